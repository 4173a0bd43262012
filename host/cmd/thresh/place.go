package main

import (
	"cmp"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
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
		if value, ok = strings.CutPrefix(v, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

func (p place) getenv(name string) string {
	value, _ := p.lookupEnv(name)
	return value
}

// home returns the user's home directory, "" if there is none.
func (p place) home() string { return p.getenv("HOME") }

// temp returns the directory for temporary files.
func (p place) temp() string { return cmp.Or(p.path(p.getenv("TMPDIR")), "/tmp") }

// cache returns the user's directory for files that can be made again, as [os.UserCacheDir] does.
func (p place) cache() (string, error) {
	switch dir := p.getenv("XDG_CACHE_HOME"); {
	case runtime.GOOS != "darwin" && filepath.IsAbs(dir):
		return dir, nil
	case p.home() == "":
		return "", errors.New("neither XDG_CACHE_HOME nor HOME is set")
	case runtime.GOOS == "darwin":
		return filepath.Join(p.home(), "Library", "Caches"), nil
	}
	return filepath.Join(p.home(), ".cache"), nil
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
