package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/tools"
)

// command adds a simple command's effects. quiet: it prints nothing. After an unknown command the output may hold
// anything, and no read is certain.
func (r *reader) command(args []string, k known, quiet bool) {
	name, args := path.Base(args[0]), args[1:]
	// Bash has no Get-Content, and its own "type" finds no such file: what succeeded was another shell's.
	if strings.EqualFold(name, "Get-Content") || name == "type" && len(args) == 1 && hasDrive(args[0]) {
		name = "Get-Content"
	}
	if !quiet && !prints(name) && !silent(name) {
		r.pure = false
	}
	if moves(name) && name != "cd" {
		r.lost = true
	}
	if tells(args) {
		r.pure = r.pure && quiet
		return
	}
	switch name {
	case "cd":
		r.cd(args, k)
	case "cat", "nl":
		_, files := flags(args, "")
		r.read(files, false, quiet)
	case "Get-Content":
		files, partial, ok := getContent(args)
		if r.pure = r.pure && (ok || quiet); ok {
			r.read(files, partial, quiet)
		}
	case "head", "tail":
		// The letters are options with a value, which is not a file.
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

// tells reports whether a command only says something about itself.
func tells(args []string) bool {
	for _, a := range args {
		if a == "--" {
			break
		}
		if a == "--help" || a == "--version" {
			return true
		}
	}
	return false
}

// plain reports whether the options of rm, mv or cp leave it certain what the command does: others ask, skip files, or
// name the directory first. Any part of a long option may stand for it.
func plain(name string, args []string) bool {
	letters := map[string]string{"rm": "fdvrR", "mv": "fvT", "cp": "fvTpadrRPLH"}[name]
	for _, a := range args {
		switch {
		case a == "--":
			return true
		case strings.HasPrefix(a, "--"):
			if !slices.Contains([]string{"--force", "--verbose", "--recursive", "--archive", "--preserve",
				"--no-target-directory", "--dereference", "--no-dereference"}, a) && !strings.HasPrefix(a, "--preserve=") {
				return false
			}
		case strings.HasPrefix(a, "-") && strings.Trim(a[1:], letters) != "" && letters != "":
			return false
		}
	}
	return true
}

// prints reports whether a command prints parts of files, silent whether it prints nothing that matters: the agent's
// own words between the files.
func prints(name string) bool {
	return slices.Contains([]string{"cat", "nl", "head", "tail", "sed", "grep", "rg", "Get-Content"}, name)
}

func silent(name string) bool {
	return slices.Contains([]string{"cd", "true", ":", "set", "echo", "printf", "mkdir", "touch", "chmod", "rm", "mv", "cp",
		"pwd"}, name)
}

// cd changes the directory. "cd" alone, "cd -" and "~" lead to places that only the shell knows. After an absolute path
// the directory is known again. A cd that may have failed, or not run, leaves two places possible.
func (r *reader) cd(args []string, k known) {
	certain := k.ran && k.succeeded
	switch {
	case len(args) != 1 || strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[0], "~"):
		r.lost = true
	case tools.IsAbs(args[0]):
		r.lost, r.astray = false, !certain
		r.enter(args[0])
	default:
		r.astray = r.astray || !certain
		r.enter(path.Join(r.dir, args[0]))
	}
}

// enter makes dir the directory, unless no system has one of that length.
func (r *reader) enter(dir string) {
	r.dir = dir
	if !path.IsAbs(dir) && tools.IsAbs(dir) {
		r.dir = strings.ReplaceAll(dir, `\`, "/") // so that other paths can be joined to it
	}
	if len(dir) > maxPath {
		r.dir, r.lost = "", true
	}
}

// path returns the path of a file name; ok is false where the file is unknown. "-" is the standard input, and devices
// are not files of a project. Links are not resolved: the file is on the agent's machine.
func (r *reader) path(name string) (string, bool) {
	switch {
	case name == "" || name == "-" || strings.HasPrefix(name, "~") || strings.HasPrefix(name, "/dev/"):
		return "", false
	case path.IsAbs(name):
		return path.Clean(name), true
	case tools.IsAbs(name):
		return name, true
	case r.lost:
		return "", false
	}
	return path.Join(r.dir, name), true
}

// read adds files whose content is printed, with partial only a part of each. With quiet it is not printed.
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
		if r.files++; r.files > maxFiles {
			return
		}
		r.of.Reads = append(r.of.Reads, p)
	}
	r.of.Partial = r.of.Partial || partial
}

// write adds a written file. It is certain only if it was written whenever the command line as a whole succeeded, and no
// shell would read its name differently: bash takes unquoted backslashes out of it.
func (r *reader) write(k known, w tools.Write) {
	astray := r.astray && !path.IsAbs(w.Path) || strings.Contains(w.Path, `\`)
	p, ok := r.path(w.Path)
	if ok {
		r.files++
	}
	switch w.Path = p; {
	case !ok || r.files > maxFiles:
	case k.ran && k.succeeded && !astray:
		r.of.Writes = append(r.of.Writes, w)
	default:
		r.of.MayWrite = append(r.of.MayWrite, p)
	}
}

// sedInPlace adds the effects of "sed -i", which prints nothing, and reports whether it is that. GNU's -i may have a
// suffix, and follow other letters, as in -ni. The first other argument is the script, unless -e or -f gave one.
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

// change adds commands that replace, move or delete files. If one of the paths is unknown, it adds nothing: half of a
// list would look like all of it.
func (r *reader) change(name string, args []string, k known) {
	opts, paths := flags(args, "")
	if !plain(name, args) {
		k = known{}
	}
	switch {
	case slices.ContainsFunc(paths, func(f string) bool { _, ok := r.path(f); return !ok }):
	// With -r it removes directories, whose files are not named.
	case name == "rm" && !strings.ContainsAny(opts, "rR"):
		for _, p := range paths {
			r.write(k, tools.Write{Path: p, Whole: true, Deletes: true})
		}
	// With more than two, the last is a directory. With two it may be one, and the file in it changed.
	case name == "mv" && len(paths) == 2:
		r.write(k, tools.Write{Path: paths[0], Deletes: true})
		r.write(k, tools.Write{Path: paths[1]})
	case name == "cp" && len(paths) == 2:
		r.write(k, tools.Write{Path: paths[1]})
	case name == "git":
		if len(args) > 2 && args[0] == "checkout" && args[1] == "--" {
			// The first is the word "checkout".
			for _, p := range paths[1:] {
				r.write(k, tools.Write{Path: p})
			}
		}
	}
}
