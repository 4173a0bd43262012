package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/thresh-dev/thresh/sdk/tools"
)

// telling are the commands of which something is known, see [reader.command].
var telling = []string{"cat", "nl", "head", "tail", "sed", "grep", "rg", "tee", "rm", "mv", "cp", "git", "Get-Content", "type"}

// mayTell reports whether anything can be known of a command: it writes to a file, or has one of the telling names,
// which quotes, escapes and variables may hide. Parsing takes many times as long.
func mayTell(command string) bool {
	return strings.ContainsAny(command, `>\'"$`) ||
		slices.ContainsFunc(telling, func(name string) bool { return strings.Contains(command, name) })
}

// Effects returns what a command does in directory dir; with "", which is unknown, paths stay relative. A command that
// cannot be parsed, or goes over one of the bounds in bounds.go, has no known effects. It takes time and memory in
// proportion to the command's length.
func Effects(command, dir string) tools.Files { return EffectsAt(command, Place{Dir: dir}) }

// EffectsAt is Effects for a command that begins at a place, which may be unknown.
func EffectsAt(command string, at Place) tools.Files {
	if len(command) > maxCommand || !mayTell(command) {
		return tools.Files{}
	}
	of, _ := effects(command, at)
	return of
}

// effects returns also where the shell is afterwards, if the command succeeds.
func effects(command string, at Place) (of tools.Files, to Place) {
	if len(command) > maxCommand {
		return tools.Files{}, Place{Lost: true}
	}
	file, ok := parse(command)
	if !ok {
		return tools.Files{}, Place{Lost: true}
	}
	ends, ok := ending(file)
	if !ok {
		return tools.Files{}, Place{Lost: true}
	}
	r := reader{ends: ends, pure: true, lost: at.Lost}
	r.enter(at.Dir)
	r.list(file.Stmts, known{ran: true, succeeded: true})
	if to = (Place{Dir: r.dir}); r.lost || r.astray {
		to = Place{Lost: true}
	}
	if r.files > maxFiles {
		return tools.Files{}, to
	}
	// The files have changed whatever else was printed. But the output is more than parts of files: it must not count
	// as a second copy of what another call read.
	if !r.pure {
		r.of.Reads, r.of.Partial = nil, false
	}
	return r.of, to
}

// reader walks through the statements of a command line. It errs on the side of too few effects: a read too many lets a
// strategy remove an older result as a repeat that it is not, a write too many as outdated.
type reader struct {
	of    tools.Files
	files int                   // how many files are in of
	ends  map[*syntax.Stmt]bool // see [ending]
	dir   string                // where the next command runs; "" with lost: unknown
	// lost: the directory is unknown, so relative paths mean nothing. astray: it may be another one, because a cd may
	// have failed, so relative writes are not certain.
	lost, astray bool
	// pure: so far the output is nothing but parts of files, and the agent's own words. Once false, it stays false.
	pure bool
}

// known is what the success of the whole command line says of a statement.
type known struct {
	ran       bool // it was run
	succeeded bool // if it was run, it succeeded
}

// list reads a row of statements, of which the last decides whether the row succeeded. The others may fail unseen,
// except after "set -e". After what may end the shell, whether a statement ran is unknown.
func (r *reader) list(stmts []*syntax.Stmt, k known) {
	strict := false
	for i, s := range stmts {
		last := i == len(stmts)-1
		r.stmt(s, known{ran: k.ran, succeeded: k.succeeded && (last || strict && stops(s))})
		switch on, set := setsE(s); {
		case set:
			strict = on && k.ran
		case r.ends[s]:
			k, strict = known{}, false
		}
	}
}

// stops reports whether "set -e" ends the shell if a statement fails: not in a list with && or ||, nor if negated.
func stops(s *syntax.Stmt) bool {
	and, ok := s.Cmd.(*syntax.BinaryCmd)
	return !s.Negated && !s.Background && (!ok || and.Op == syntax.Pipe || and.Op == syntax.PipeAll)
}

// setsE reports whether a statement switches "set -e" on or off, also as in "set -euo pipefail".
func setsE(s *syntax.Stmt) (on, set bool) {
	args, ok := literals(s)
	if !ok || len(args) < 2 || args[0] != "set" {
		return false, false
	}
	for _, a := range args[1:] {
		if a == "--" {
			break
		}
		if (strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+")) && strings.Contains(a, "e") {
			on, set = a[0] == '-', true
		}
	}
	return on, set
}

// ending returns the statements that may end the shell with success, or change what later ones mean: then nothing is
// certain. "exit 1" does not: if it ran, the whole has failed. ok is false if the command line nests too deep.
func ending(file *syntax.File) (ends map[*syntax.Stmt]bool, ok bool) {
	ends = map[*syntax.Stmt]bool{}
	var open []syntax.Node // from the file to the node at hand
	tooDeep := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			open = open[:len(open)-1]
			return true
		}
		if tooDeep = tooDeep || len(open) == maxDepth; tooDeep {
			return false
		}
		open = append(open, n)
		if !mayEnd(n) {
			return true
		}
		for _, outer := range slices.Backward(open) {
			if s, is := outer.(*syntax.Stmt); is {
				if ends[s] {
					break // and so are all around it
				}
				ends[s] = true
			}
		}
		return true
	})
	return ends, !tooDeep
}

// mayEnd says of a node what [ending] says of the statements around it.
func mayEnd(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.FuncDecl:
		return true // later, any name may be the function
	case *syntax.CallExpr:
		name, literal := text(firstWord(n))
		switch name {
		case "exit", "return":
			args, ok := words(n.Args)
			return !ok || len(args) != 2 || strings.Trim(args[1], "0") == "" ||
				strings.Trim(args[1], "0123456789") != ""
		case "exec", "logout", "kill", "trap", "eval", "source", ".", "alias", "enable":
			return true
		}
		return !literal
	}
	return false
}

// literals returns the words of a simple command; ok only if all are literal. An assignment before a command, as in
// "LANG=C sort", may change what it does.
func literals(s *syntax.Stmt) (args []string, ok bool) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 {
		return nil, false
	}
	return words(call.Args)
}

func (r *reader) stmt(s *syntax.Stmt, k known) {
	// A negated command succeeds when it fails, and a background one may still run.
	if s.Negated || s.Background || s.Coprocess {
		r.other(s)
		return
	}
	if both, ok := s.Cmd.(*syntax.BinaryCmd); ok && len(s.Redirs) == 0 {
		switch both.Op {
		// If the second one ran, the first succeeded; if it did not, the whole has failed.
		case syntax.AndStmt:
			r.stmt(both.X, k)
			r.stmt(both.Y, known{k.ran && k.succeeded && !r.ends[both.X], k.succeeded})
			return
		case syntax.OrStmt:
			// With "|| exit 1" the first succeeded, or the whole has failed. Of any other two, only one may have run.
			if failing, ok := literals(both.Y); ok && failing[0] == "exit" && !r.ends[both.Y] {
				r.stmt(both.X, known{k.ran, true})
				return
			}
			r.other(s)
			return
		case syntax.Pipe, syntax.PipeAll:
			r.pipe(both, k)
			return
		}
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if s.Cmd == nil {
		call, ok = &syntax.CallExpr{}, true // redirections alone
	}
	if !ok || len(call.Assigns) > 0 && len(call.Args) == 0 && len(s.Redirs) > 0 {
		r.other(s)
		return
	}
	args, literal := words(call.Args)
	quiet := r.redirections(s.Redirs, args, k)
	switch {
	case len(call.Args) == 0:
		r.pure = r.pure && (len(call.Assigns) > 0 || quiet) // an assignment alone prints nothing
	// "cd $D", or a command that may be anything.
	case !literal || len(call.Assigns) > 0:
		name, plain := text(firstWord(call))
		r.lost = r.lost || !plain || moves(name)
		r.pure = r.pure && quiet && len(call.Assigns) == 0
	default:
		r.command(args, k, quiet)
	}
}

// other reads a statement of which nothing is certain: its writes are possible. It may change the directory.
func (r *reader) other(s *syntax.Stmt) {
	r.pure = false
	lost := r.lost
	syntax.Walk(s, func(n syntax.Node) bool {
		in, ok := n.(*syntax.Stmt)
		if !ok {
			return true
		}
		call, ok := in.Cmd.(*syntax.CallExpr)
		if !ok {
			r.redirections(in.Redirs, nil, known{})
			return true
		}
		args, literal := words(call.Args)
		r.redirections(in.Redirs, args, known{})
		name, plain := text(firstWord(call))
		switch {
		case !plain || moves(name):
			r.lost = true
		case literal && len(args) > 0:
			r.command(args, known{}, true)
		}
		return true
	})
	if _, own := s.Cmd.(*syntax.Subshell); own || s.Background || s.Coprocess {
		r.lost = lost // it was another shell's
	}
}

func firstWord(call *syntax.CallExpr) *syntax.Word {
	if len(call.Args) == 0 {
		return nil
	}
	return call.Args[0]
}

// moves reports whether a command may change the directory for later ones.
func moves(name string) bool {
	return slices.Contains([]string{"cd", "pushd", "popd", "eval", "source", "."}, name)
}

// redirections adds the files that the output goes to, and reports whether none of it is printed.
func (r *reader) redirections(redirs []*syntax.Redirect, args []string, k known) (quiet bool) {
	whole := false // the input is a here-document without expansions
	for _, d := range redirs {
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			_, whole = text(d.Hdoc)
		}
	}
	for _, d := range redirs {
		switch d.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			errors := d.N != nil && d.N.Value == "2"
			quiet = quiet || !errors
			name, ok := text(d.Word)
			if !ok || name == "/dev/null" {
				continue
			}
			// The command has all of the content only where it is copied from a here-document.
			copied := whole && len(args) == 1 && args[0] == "cat" && d.Op != syntax.AppOut && d.Op != syntax.AppAll
			r.write(k, tools.Write{Path: name, Whole: copied})
		}
	}
	return quiet
}

// pipe reads a pipe. Its output is parts of files if the first command prints such and the others only select lines.
// Only the last command's failure is seen. Each runs in a shell of its own: its cd has no effect on later ones.
func (r *reader) pipe(b *syntax.BinaryCmd, k known) {
	dir, lost, astray := r.dir, r.lost, r.astray
	args, ok := literals(b.Y)
	prints := ok && len(args) > 0 && selects(args) && len(b.Y.Redirs) == 0
	r.stmt(b.X, known{ran: k.ran})
	r.dir, r.lost, r.astray = dir, lost, astray
	if prints {
		r.of.Partial = true
		return
	}
	r.stmt(b.Y, k)
	r.pure = false
	r.dir, r.lost, r.astray = dir, lost, astray
}

// selects reports whether a command only prints lines of its input, which it does not read if it is given a file. The
// letters are options with an argument.
func selects(args []string) bool {
	switch args[0] {
	case "head", "tail", "nl", "cat":
		_, files := flags(args[1:], "nc")
		return len(files) == 0
	case "grep", "rg":
		_, rest := flags(args[1:], "ABCem")
		return len(rest) == 1
	case "sed":
		prints, rest := sedPrints(args[1:])
		return prints && len(rest) == 0
	}
	return false
}

// tee adds tee's files. It prints its input again, so the output of its pipe is not parts of files.
func (r *reader) tee(args []string, k known) {
	_, files := flags(args, "")
	for _, f := range files {
		r.write(k, tools.Write{Path: f})
	}
}
