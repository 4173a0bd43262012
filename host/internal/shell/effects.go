package shell

import (
	"path"
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

// command takes in a simple command. quiet says that it prints nothing.
func (r *reader) command(args []string, seen, quiet bool) {
	name, args := path.Base(args[0]), args[1:]
	if !quiet && !prints(name) && !silent(name) {
		r.pure = false
	}
	if moves(name) && name != "cd" {
		r.lost = true
	}
	switch name {
	case "cd":
		r.cd(args)
	case "cat", "nl":
		_, files := flags(args, "")
		r.read(files, false, quiet)
	case "head", "tail":
		_, files := flags(args, "nc")
		r.read(files, true, quiet)
	case "sed":
		if out, files := sedPrints(args); out {
			r.read(files, true, quiet)
			return
		}
		// A sed that neither only prints lines nor edits in place prints changed text.
		if !r.sedInPlace(args, seen) {
			r.pure = r.pure && quiet
		}
	case "grep", "rg":
		_, rest := flags(args, "ABCemgtfT")
		if len(rest) < 2 || hasAny(args, "-r", "-R", "-l", "-L", "-c", "--files", "-e", "-f", "-v") {
			r.pure = false // it prints names or counts, or looks into directories
			return
		}
		r.read(rest[1:], true, quiet)
	case "tee":
		r.tee(args)
	// They can fail, as when a file is missing. Without seen, that stays unknown, and nothing is taken in.
	case "rm", "mv", "cp", "git":
		if seen {
			r.change(name, args)
		}
	}
}

// prints reports whether a command prints parts of files, silent whether it prints nothing that matters: words of the
// agent's own, between the files.
func prints(name string) bool {
	switch name {
	case "cat", "nl", "head", "tail", "sed", "grep", "rg":
		return true
	}
	return false
}

func silent(name string) bool {
	switch name {
	case "cd", "true", ":", "set", "echo", "printf", "mkdir", "touch", "chmod", "rm", "mv", "cp", "pwd":
		return true
	}
	return false
}

// cd takes in a change of the directory. "cd" alone, "cd -" and "~" lead to places that only the shell knows. An
// absolute path makes the directory known again.
func (r *reader) cd(args []string) {
	switch {
	case len(args) != 1 || strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[0], "~"):
		r.lost = true
	case path.IsAbs(args[0]):
		r.dir, r.lost = args[0], false
	default:
		r.dir = path.Join(r.dir, args[0])
	}
}

// path returns the path of a name that a command is given; ok is false where it is not known which file that is. "-" is
// the standard input, and devices are no files of a project. The path is not looked up: it is the agent's machine that
// it was of, and links are not resolved.
func (r *reader) path(name string) (string, bool) {
	switch {
	case name == "" || name == "-" || strings.HasPrefix(name, "~") || strings.HasPrefix(name, "/dev/"):
		return "", false
	case path.IsAbs(name):
		return path.Clean(name), true
	case r.lost:
		return "", false
	}
	return path.Join(r.dir, name), true
}

// read takes in files whose content is printed. With quiet, their content went to another file and is not in the
// result.
func (r *reader) read(files []string, partial, quiet bool) {
	if quiet {
		return
	}
	if len(files) == 0 {
		r.pure = false // it prints its input
	}
	for _, f := range files {
		p, ok := r.path(f)
		if !ok {
			r.pure = false
			continue
		}
		r.of.Reads = append(r.of.Reads, p)
	}
	r.of.Partial = r.of.Partial || partial
}

func (r *reader) write(w tools.Write) { r.of.Writes = append(r.of.Writes, w) }

// sedInPlace takes in "sed -i", which prints nothing, and reports whether it is that. seen says that a failure is one
// of the whole command. GNU's -i may have a suffix for a copy, and can stand among other letters, as in -ni. The first
// argument that is no option is the script, unless -e or -f gave one.
func (r *reader) sedInPlace(args []string, seen bool) (inPlace bool) {
	script := false
	var rest []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-i" || a == "--in-place" || strings.HasPrefix(a, "-i") || strings.HasPrefix(a, "--in-place="):
			inPlace = true
		case a == "-e" || a == "-f" || a == "--expression":
			script = true
			i++
		case strings.HasPrefix(a, "-") && len(a) > 1:
			inPlace = inPlace || strings.Contains(a, "i") && !strings.HasPrefix(a, "--")
		default:
			rest = append(rest, a)
		}
	}
	if !script && len(rest) > 0 {
		rest = rest[1:]
	}
	for _, f := range rest {
		if p, ok := r.path(f); ok && inPlace && seen {
			r.write(tools.Write{Path: p})
		}
	}
	return inPlace
}

// change takes in commands that replace, move or delete files. If one of the paths is not known, nothing is taken in:
// half of a list would look like all of it.
func (r *reader) change(name string, args []string) {
	opts, files := flags(args, "")
	var paths []string
	for _, f := range files {
		if p, ok := r.path(f); ok {
			paths = append(paths, p)
		}
	}
	switch {
	case len(paths) < len(files):
	// With -r it removes directories, whose files are not named.
	case name == "rm" && !strings.ContainsAny(opts, "rR"):
		for _, p := range paths {
			r.write(tools.Write{Path: p, Whole: true, Deletes: true})
		}
	// With more than two, the last is a directory. With two it may be one, and then the file in it is what changed.
	case name == "mv" && len(paths) == 2:
		r.write(tools.Write{Path: paths[0], Deletes: true})
		r.write(tools.Write{Path: paths[1]})
	case name == "cp" && len(paths) == 2:
		r.write(tools.Write{Path: paths[1]})
	case name == "git":
		if len(args) > 2 && args[0] == "checkout" && args[1] == "--" {
			// The first is the word "checkout" itself, taken for a path.
			for _, p := range paths[1:] {
				r.write(tools.Write{Path: p})
			}
		}
	}
}

// words returns words as the command gets them; ok only if all of them are literal and no glob.
func words(list []*syntax.Word) (out []string, ok bool) {
	for _, w := range list {
		s, ok := text(w)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// text returns a word without its quotes; ok is false if something in it is expanded. A quoted glob is none.
func text(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", true // an empty here-document
	}
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			// Also where a backslash quotes one of these: such names are rare, and left out.
			if strings.ContainsAny(p.Value, "*?[{") {
				return "", false
			}
			b.WriteString(unescaped(p.Value))
		case *syntax.SglQuoted:
			// $'…' has escapes of its own.
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, in := range p.Parts {
				lit, ok := in.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(unescaped(lit.Value))
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unescaped removes the backslashes that quote a character.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// flags parts the arguments of a command: the letters of its options, and what is none. valued are the letters of
// options that take the next argument. Long options are dropped, with their values after "="; one whose value is the
// next word is misread as having a file.
func flags(args []string, valued string) (opts string, rest []string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return opts, append(rest, args[i+1:]...)
		case strings.HasPrefix(a, "--"):
		case strings.HasPrefix(a, "-") && len(a) > 1:
			opts += a[1:]
			// In "-n5" the value is part of the word.
			if strings.Contains(valued, a[len(a)-1:]) && len(a) == 2 {
				i++
			}
		default:
			rest = append(rest, a)
		}
	}
	return opts, rest
}

// sedPrints reports whether sed prints lines of its input and changes nothing: "sed -n '1,20p'". rest are the files. A
// script with a pattern such as /x/p is not among these, as a pattern can hold any character.
func sedPrints(args []string) (bool, []string) {
	opts, rest := flags(args, "")
	if opts != "n" || len(rest) == 0 {
		return false, nil
	}
	for line := range strings.SplitSeq(rest[0], ";") {
		line = strings.TrimSpace(line)
		numbers, ok := strings.CutSuffix(line, "p")
		if !ok || strings.Trim(numbers, "0123456789,$ +~") != "" {
			return false, nil
		}
	}
	return true, rest[1:]
}

// hasAny reports whether one of the options is among the arguments. Letters are also found in a group such as -rn.
func hasAny(args []string, names ...string) bool {
	for _, a := range args {
		for _, n := range names {
			if a == n || len(n) == 2 && len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a[1:], n[1:]) {
				return true
			}
		}
	}
	return false
}
