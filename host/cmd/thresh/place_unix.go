//go:build unix

package main

import (
	"cmp"
	"errors"
	"path/filepath"
	"runtime"
)

// sameName reports whether two names are those of one variable.
func sameName(a, b string) bool { return a == b }

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
