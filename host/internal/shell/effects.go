package shell

import (
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/thresh-dev/thresh/sdk/tools"
)

// maxCommand is the longest command that is looked into, in bytes. Longer ones carry the content of files, in
// here-documents, and are still worth it; beyond that the parser's tree costs more than is saved.
const maxCommand = 1 << 20

// parsers are reused: a new one costs more memory than a usual command, and the first call of a plugin brings all
// commands of a session.
var parsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

// telling are the commands of which something is known, see [reader.command].
var telling = []string{"cat", "nl", "head", "tail", "sed", "grep", "rg", "tee", "rm", "mv", "cp", "git"}

// mayTell reports whether anything can be known of a command: it writes to a file, or holds one of the telling names,
// which quotes, escapes and variables may hide. Parsing takes many times as long as to look for these.
func mayTell(command string) bool {
	return strings.ContainsAny(command, `>\'"$`) ||
		slices.ContainsFunc(telling, func(name string) bool { return strings.Contains(command, name) })
}

// Effects returns what a command does that runs in directory dir; "" is unknown, and relative paths stay so. What
// cannot be parsed has no known effects. Nor has a longer command than maxCommand.
func Effects(command, dir string) tools.Files {
	if len(command) > maxCommand || !mayTell(command) {
		return tools.Files{}
	}
	p := parsers.Get().(*syntax.Parser)
	defer parsers.Put(p)
	file, err := p.Parse(strings.NewReader(command), "")
	if err != nil {
		return tools.Files{}
	}
	r := reader{dir: dir, pure: true}
	r.list(file.Stmts, known{ran: true, succeeded: true})
	// Writes stay known: the files have changed whatever else was printed. The output, though, is more than parts of
	// the files, so that it must not count as a second copy of what another call has read.
	if !r.pure {
		r.of.Reads, r.of.Partial = nil, false
	}
	return r.of
}

// reader walks through the statements of a command line in their order. Every method errs on the side of too few
// effects. A read too many lets a strategy remove an older result as a repeat that it is not; a write too many lets it
// remove one as outdated.
type reader struct {
	of  tools.Files
	dir string // where the next command runs; "" with lost: not known
	// lost: the directory is not known any more, so that relative paths mean nothing. astray: it may be another one,
	// because a cd may have failed, so that writes to them are not certain.
	lost, astray bool
	// pure: so far, the output holds nothing but parts of files, and words of the agent's own. It never becomes true
	// again.
	pure bool
}

// known is what the success of the command line as a whole says of one of its statements.
type known struct {
	ran       bool // it was run
	succeeded bool // if it was run, it succeeded
}

// list reads statements in a row, of which the last decides whether the row succeeded. The others may fail unseen,
// except after "set -e". What may end the shell leaves unknown whether those behind it were run.
func (r *reader) list(stmts []*syntax.Stmt, k known) {
	strict := false
	for i, s := range stmts {
		last := i == len(stmts)-1
		r.stmt(s, known{ran: k.ran, succeeded: k.succeeded && (last || strict && stops(s))})
		switch on, set := setsE(s); {
		case set:
			strict = on && k.ran
		case mayEnd(s):
			k, strict = known{}, false
		}
	}
}

// stops reports whether "set -e" ends the shell where a statement fails: not for those in a list with && or ||, and not
// for negated ones.
func stops(s *syntax.Stmt) bool {
	and, ok := s.Cmd.(*syntax.BinaryCmd)
	return !s.Negated && !s.Background && (!ok || and.Op == syntax.Pipe || and.Op == syntax.PipeAll)
}

// setsE reports whether a statement switches on or off that the shell stops at the first failure. "set -eu" and "set
// -euo pipefail" do as well.
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

// mayEnd reports whether a statement may end the shell with success, or change what later ones mean: then nothing is
// certain any more. "exit 1" does not: if it was run, the whole has failed.
func mayEnd(s *syntax.Stmt) (ends bool) {
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			ends = true // later on, any name may be one of it
		case *syntax.CallExpr:
			name, literal := text(firstWord(n))
			switch name {
			case "exit", "return":
				args, ok := words(n.Args)
				ends = ends || !ok || len(args) != 2 || strings.Trim(args[1], "0") == "" ||
					strings.Trim(args[1], "0123456789") != ""
			case "exec", "logout", "kill", "trap", "eval", "source", ".", "alias", "enable":
				ends = true
			}
			ends = ends || !literal
		}
		return !ends
	})
	return ends
}

// literals returns the words of a simple command, ok only if all of them are literal. An assignment before a command,
// as in "LANG=C sort", makes it not simple: some change what the command does.
func literals(s *syntax.Stmt) (args []string, ok bool) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 {
		return nil, false
	}
	return words(call.Args)
}

// stmt reads one statement.
func (r *reader) stmt(s *syntax.Stmt, k known) {
	// A negated command succeeds when it fails, and one in the background may still run.
	if s.Negated || s.Background || s.Coprocess {
		r.other(s)
		return
	}
	if both, ok := s.Cmd.(*syntax.BinaryCmd); ok && len(s.Redirs) == 0 {
		switch both.Op {
		// If the second one ran, the first one has succeeded; if it did not, the whole has failed.
		case syntax.AndStmt:
			r.stmt(both.X, k)
			r.stmt(both.Y, known{k.ran && k.succeeded && !mayEnd(both.X), k.succeeded})
			return
		case syntax.OrStmt:
			// With "|| exit 1" the first one succeeded, else the whole had failed. Of any other two only one was.
			if failing, ok := literals(both.Y); ok && failing[0] == "exit" && !mayEnd(both.Y) {
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
	// "cd $D", or a command that may be anything. An assignment before a command can change what it does.
	case !literal || len(call.Assigns) > 0:
		name, plain := text(firstWord(call))
		r.lost = r.lost || !plain || moves(name)
		r.pure = r.pure && quiet && len(call.Assigns) == 0
	default:
		r.command(args, k, quiet)
	}
}

// other takes in a statement of which nothing is certain: of what is known in it, the writes are possible. What is
// inside may change the directory.
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

// firstWord returns the name of a command; nil for none.
func firstWord(call *syntax.CallExpr) *syntax.Word {
	if len(call.Args) == 0 {
		return nil
	}
	return call.Args[0]
}

// moves reports whether a command may change the directory of those behind it.
func moves(name string) bool {
	switch name {
	case "cd", "pushd", "popd", "eval", "source", ".":
		return true
	}
	return false
}

// redirections takes in the files that the output goes to, and reports whether nothing of it is printed.
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
			// All of the content stands in the command only where it is copied from a here-document.
			copied := whole && len(args) == 1 && args[0] == "cat" && d.Op != syntax.AppOut && d.Op != syntax.AppAll
			r.write(k, tools.Write{Path: name, Whole: copied})
		}
	}
	return quiet
}

// pipe reads a pipe. Its output is parts of files if the first command prints such and the others only select lines. It
// succeeds with its last command, so that the others may fail unseen. Each runs in a shell of its own: its cd is of no
// effect on what follows.
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

// selects reports whether a command prints lines of its input, and only those. The options' letters are those that take
// an argument, which is no file. A command with a file does not read its input.
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

// tee takes in the files of tee. It prints its input again, which is why the output of a pipe with it is not parts of
// files.
func (r *reader) tee(args []string, k known) {
	_, files := flags(args, "")
	for _, f := range files {
		r.write(k, tools.Write{Path: f})
	}
}
