package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// endedHint says what to do about a process that ended before it printed anything useful.
func (c *child) endedHint() string {
	const byHand = "run it by hand to see what it is"
	switch {
	case c.binary.Script && filepath.Base(c.binary.Interpreter()) == "env":
		return "its #! line has env look for a program in PATH, which plugins do not get: name the program by its " +
			"absolute path"
	case c.refusedHint() != "":
		return c.refusedHint()
	case c.isolated():
		return byHand + "; if it works there, isolation keeps something from it: see plugins.grants." + c.binary.Name +
			" and 'thresh doctor'"
	}
	return byHand
}

// refusedHint says which system calls isolation refused, and which grants would allow them; "" if none are known. It
// does not say that the program ended because of them: programs try some calls and continue without.
func (c *child) refusedHint() string {
	if c.guard == nil {
		return ""
	}
	var all []string
	for _, r := range c.guard.Refused() {
		allowed := "no grant allows it"
		if r.Grant != "" {
			allowed = "plugins.grants." + c.binary.Name + "." + r.Grant + " allows it"
		}
		all = append(all, r.Call+" ("+allowed+")")
	}
	if len(all) == 0 {
		return ""
	}
	return "before it ended, isolation refused it: " + strings.Join(all, ", ")
}

// isolated reports whether the process's access to files is restricted.
func (c *child) isolated() bool { return slices.Contains(c.sandbox.Apply, isolate.Files) }

// hiddenInterpreter returns the interpreter or loader of the plugin's file if isolation hides it, and what would have
// to be granted; else "". The kernel reports a missing interpreter as ENOENT for the plugin's own file, which is
// misleading without this.
func (c *child) hiddenInterpreter() (path, grant string) {
	if !c.isolated() {
		return "", ""
	}
	named := c.binary.Interpreter()
	if !filepath.IsAbs(named) {
		return "", ""
	}
	real, err := filepath.EvalSymlinks(named)
	if err != nil || isolate.Readable(real) || c.granted(real) {
		return "", ""
	}
	return named, surroundings(real)
}

// granted resolves symbolic links on both sides, as Landlock does.
func (c *child) granted(path string) bool {
	return slices.ContainsFunc(c.sandbox.Grant.Read, func(tree string) bool {
		real, err := filepath.EvalSymlinks(tree)
		if err != nil {
			return false
		}
		rel, err := filepath.Rel(real, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// surroundings returns what a program most likely needs besides itself: for one in a directory bin, the parent of bin.
// It suggests only the program where that would open a home directory or the root.
func surroundings(program string) string {
	dir := filepath.Dir(program)
	home, _ := os.UserHomeDir() // "": no path is below it
	if prefix := filepath.Dir(dir); filepath.Base(dir) == "bin" && prefix != home && filepath.Dir(prefix) != "/" &&
		prefix != "/" {
		return prefix
	}
	return program
}
