// Package procs finds the processes of plugins that run, for tests and drivers that kill them or look for what is left.
// It reads /proc, and finds nothing on systems without it.
package procs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Running returns the command lines of the processes whose program is in a directory, by process id. A process that
// ended meanwhile, and a zombie, are not among them.
func Running(dir string) map[int]string {
	return find("cmdline", func(text string) bool { return strings.HasPrefix(text, dir+"/") })
}

// With returns the processes that were started with a variable in their environment, such as "TMPDIR=/x", and their
// environments. The running process is not among them.
func With(variable string) map[int]string {
	found := find("environ", func(text string) bool { return strings.Contains("\x00"+text, "\x00"+variable) })
	delete(found, os.Getpid())
	return found
}

// find returns the text of a file of each process for which match holds, with spaces for NUL.
func find(file string, match func(text string) bool) map[int]string {
	found := map[int]string{}
	all, _ := filepath.Glob("/proc/[0-9]*/" + file)
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil || !match(string(text)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			found[pid] = strings.ReplaceAll(string(text), "\x00", " ")
		}
	}
	return found
}
