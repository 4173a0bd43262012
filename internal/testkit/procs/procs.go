// Package procs finds the processes of plugins that run, for tests and drivers that kill them or look for what is left.
// It reads /proc, and finds nothing on systems without it.
package procs

import (
	"os"
	"strconv"
	"strings"
)

// Running returns the command lines of the processes whose program is in a directory, by process id. A process that
// ended meanwhile, and a zombie, are not among them.
func Running(dir string) map[int]string {
	return find("cmdline", func(text string) bool { return strings.HasPrefix(text, dir+"/") })
}

// BuiltIn returns the command lines of the processes that are strategies built into a program.
func BuiltIn(program string) map[int]string {
	found := find("cmdline", func(text string) bool { return strings.HasPrefix(text, "thresh-strategy-") })
	for pid := range found {
		if exe, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe"); err != nil || exe != program {
			delete(found, pid)
		}
	}
	return found
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
	proc, err := os.Open("/proc")
	if err != nil {
		return found
	}
	defer proc.Close()
	// Tests look often: no stat and no sorting of the hundreds of names.
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + name + "/" + file)
		if err == nil && match(string(text)) {
			found[pid] = strings.ReplaceAll(string(text), "\x00", " ")
		}
	}
	return found
}
