package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/tools"
)

// command takes in a simple command. quiet says that it prints nothing. Commands that are not known make the result
// impure: it may then hold anything, and no read is certain.
func (r *reader) command(args []string, k known, quiet bool) {
	name, args := path.Base(args[0]), args[1:]
	if !quiet && !prints(name) && !silent(name) {
		r.pure = false
	}
	// Any other command that changes the directory leads to a place that is not known.
	if moves(name) && name != "cd" {
		r.lost = true
	}
	switch name {
	case "cd":
		r.cd(args, k)
	case "cat", "nl":
		_, files := flags(args, "")
		r.read(files, false, quiet)
	case "head", "tail":
		// The letters are options that take a value, which is no file.
		_, files := flags(args, "nc")
		r.read(files, true, quiet)
	case "sed":
		if out, files := sedPrints(args); out {
			r.read(files, true, quiet)
			return
		}
		// A sed that neither only prints lines nor edits in place prints changed text.
		if !r.sedInPlace(args, k) {
			r.pure = r.pure && quiet
		}
	case "grep", "rg":
		// The first argument is the pattern.
		_, rest := flags(args, "ABCemgtfT")
		if len(rest) < 2 || hasAny(args, "-r", "-R", "-l", "-L", "-c", "--files", "-e", "-f", "-v") {
			r.pure = false // it prints names or counts, or looks into directories
			return
		}
		r.read(rest[1:], true, quiet)
	case "tee":
		r.tee(args, k)
	case "rm", "mv", "cp", "git":
		r.change(name, args, k)
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
// absolute path makes the directory known again. One that may have failed, or was not run, leaves two places possible.
func (r *reader) cd(args []string, k known) {
	certain := k.ran && k.succeeded
	switch {
	case len(args) != 1 || strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[0], "~"):
		r.lost = true
	case path.IsAbs(args[0]):
		r.dir, r.lost, r.astray = args[0], false, !certain
	default:
		r.dir, r.astray = path.Join(r.dir, args[0]), r.astray || !certain
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
// result. partial says that only a part of each is printed.
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

// write takes in a file that is written, by the name that the command has for it. It is certain only if it was done
// whenever the command line as a whole succeeded. Of a name with variables or globs it is not known which file it is.
func (r *reader) write(k known, w tools.Write) {
	astray := r.astray && !path.IsAbs(w.Path)
	p, ok := r.path(w.Path)
	switch w.Path = p; {
	case !ok:
	case k.ran && k.succeeded && !astray:
		r.of.Writes = append(r.of.Writes, w)
	default:
		r.of.MayWrite = append(r.of.MayWrite, p)
	}
}

// sedInPlace takes in "sed -i", which prints nothing, and reports whether it is that. GNU's -i may have a suffix for a copy, and can stand among other letters, as in -ni. The first
// argument that is no option is the script, unless -e or -f gave one.
func (r *reader) sedInPlace(args []string, k known) (inPlace bool) {
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
	// What is left first is the script, not a file.
	if !script && len(rest) > 0 {
		rest = rest[1:]
	}
	for _, f := range rest {
		if inPlace {
			r.write(k, tools.Write{Path: f})
		}
	}
	return inPlace
}

// change takes in commands that replace, move or delete files. If one of the paths is not known, nothing is taken in:
// half of a list would look like all of it.
func (r *reader) change(name string, args []string, k known) {
	opts, paths := flags(args, "")
	switch {
	case slices.ContainsFunc(paths, func(f string) bool { _, ok := r.path(f); return !ok }):
	// With -r it removes directories, whose files are not named.
	case name == "rm" && !strings.ContainsAny(opts, "rR"):
		for _, p := range paths {
			r.write(k, tools.Write{Path: p, Whole: true, Deletes: true})
		}
	// With more than two, the last is a directory. With two it may be one, and then the file in it is what changed.
	case name == "mv" && len(paths) == 2:
		r.write(k, tools.Write{Path: paths[0], Deletes: true})
		r.write(k, tools.Write{Path: paths[1]})
	case name == "cp" && len(paths) == 2:
		r.write(k, tools.Write{Path: paths[1]})
	case name == "git":
		if len(args) > 2 && args[0] == "checkout" && args[1] == "--" {
			// The first is the word "checkout" itself, taken for a path.
			for _, p := range paths[1:] {
				r.write(k, tools.Write{Path: p})
			}
		}
	}
}
