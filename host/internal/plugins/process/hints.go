package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

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

// refusedHint names the grants of an isolated process whose standard error tells that the system refused it something;
// "" for any other. It does not say that isolation is to blame: nobody asked the kernel.
func (c *child) refusedHint() string {
	said := strings.ToLower(c.stderr.String())
	refused := func(errno syscall.Errno) bool { return strings.Contains(said, errno.Error()) }
	if !c.isolated() || !slices.ContainsFunc([]syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.ENOSYS}, refused) {
		return ""
	}
	return "if isolation is the cause, plugins.grants." + c.binary.Name +
		" can allow it the network, other processes, or more files to read"
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
