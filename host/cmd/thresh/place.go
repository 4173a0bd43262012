package main

import (
	"cmp"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// place is where a command runs. Commands ask it instead of the process, so tests run many at a time in one.
type place struct {
	// dir is the working directory; "" is that of the process, as for [exec.Cmd].
	dir string
	// env are the variables, as [os.Environ] has them. An empty list is not the process's.
	env []string
}

// path returns where a file is that the user named. "" stays "".
func (p place) path(name string) string {
	if name == "" || p.dir == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.dir, name)
}

func (p place) lookupEnv(name string) (value string, ok bool) {
	for _, v := range slices.Backward(p.env) { // the last value of a name counts
		if n := len(name); len(v) > n && v[n] == '=' && sameName(v[:n], name) {
			return v[n+1:], true
		}
	}
	return "", false
}

func (p place) getenv(name string) string {
	value, _ := p.lookupEnv(name)
	return value
}

// lookPath finds a program, as [exec.LookPath] does.
func (p place) lookPath(name string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return exec.LookPath(p.path(name))
	}
	for _, dir := range filepath.SplitList(p.getenv("PATH")) {
		found, err := exec.LookPath(filepath.Join(p.path(cmp.Or(dir, ".")), name))
		switch {
		case err != nil:
		case !filepath.IsAbs(dir): // a stranger's repository may have a program of any name
			return "", &exec.Error{Name: name, Err: exec.ErrDot}
		default:
			return found, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}
