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
	r.list(file.Stmts)
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
	// lost: the directory is not known any more, so that relative paths mean nothing.
	lost bool
	// pure: so far, the output holds nothing but parts of files, and words of the agent's own. It never becomes true
	// again.
	pure bool
}

// list reads statements in a row. Only the last one decides whether the command succeeded, so that the others must not
// be able to fail unseen. seen of a statement is whether the agent would have learned of its failure: from the exit
// status of the whole.
func (r *reader) list(stmts []*syntax.Stmt) {
	strict := false // set -e
	for i, s := range stmts {
		strict = strict || setsE(s)
		r.stmt(s, strict || i == len(stmts)-1)
	}
}

// setsE reports whether a statement makes the shell stop at the first failure. "set -eu" and "set -euo pipefail" do as
// well. A later "set +e" is not looked for: agents do not write it.
func setsE(s *syntax.Stmt) bool {
	args, ok := literals(s)
	return ok && len(args) > 1 && args[0] == "set" && strings.HasPrefix(args[1], "-") && strings.Contains(args[1], "e")
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

// stmt reads one statement. seen says that a failure of it is one of the whole command.
func (r *reader) stmt(s *syntax.Stmt, seen bool) {
	// A negated command succeeds when it fails, and one in the background may still run: neither tells anything.
	if s.Negated || s.Background || s.Coprocess {
		r.pure = false
		return
	}
	// With ||, only one of the two ran, and it is not known which; it is treated like any other command that is not
	// understood.
	if and, ok := s.Cmd.(*syntax.BinaryCmd); ok && len(s.Redirs) == 0 {
		switch and.Op {
		// If the second one ran, the first one has succeeded; if it did not, the whole has failed.
		case syntax.AndStmt:
			r.stmt(and.X, seen)
			r.stmt(and.Y, seen)
			return
		case syntax.Pipe:
			r.pipe(and, seen)
			return
		}
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 {
		alone := ok && len(call.Args) == 0 && len(s.Redirs) == 0
		r.pure = r.pure && alone // an assignment alone prints nothing
		// What is inside may change the directory.
		r.lost = r.lost || !ok
		return
	}
	args, known := words(call.Args)
	quiet := r.redirections(s.Redirs, args)
	if !known || len(args) == 0 {
		// "cd $D", or a command that may be anything.
		name, literal := text(firstWord(call))
		r.lost = r.lost || !literal || moves(name)
		r.pure = r.pure && quiet
		return
	}
	r.command(args, seen, quiet)
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
func (r *reader) redirections(redirs []*syntax.Redirect, args []string) (quiet bool) {
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
			// Names with variables or globs were left out above: it is not known which file they are.
			if p, ok := r.path(name); ok {
				// All of the content stands in the command only where it is copied from a here-document.
				copied := whole && len(args) == 1 && args[0] == "cat" && d.Op != syntax.AppOut && d.Op != syntax.AppAll
				r.write(tools.Write{Path: p, Whole: copied})
			}
		}
	}
	return quiet
}

// pipe reads a pipe. Its output is parts of files if the first command prints such and the others only select lines. A
// write of its first command holds as if it stood alone, but not its failure: the pipe succeeds with its last command.
func (r *reader) pipe(b *syntax.BinaryCmd, seen bool) {
	args, ok := literals(b.Y)
	if ok && len(args) > 0 && args[0] == "tee" {
		r.tee(args[1:])
		r.pure = false
		return
	}
	if !ok || !selects(args) || len(b.Y.Redirs) > 0 {
		r.pure = false
		return
	}
	r.stmt(b.X, seen)
	r.of.Partial = true
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
func (r *reader) tee(args []string) {
	_, files := flags(args, "")
	for _, f := range files {
		if p, ok := r.path(f); ok {
			r.write(tools.Write{Path: p})
		}
	}
}
