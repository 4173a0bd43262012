// Package rundir makes run directories: private directories of one process of the host, which are removed even if the
// process was killed. Start at [New].
//
// A directory has a lock that lasts as long as its process. Making a directory first removes those without one, which
// killed hosts left behind.
package rundir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/internal/filelock"
)

const (
	prefix = "thresh-"
	// Letters after the prefix. MkdirTemp's ten digits would not leave a socket's path room below macOS's TMPDIR.
	random = 6
	inUse  = "host.lock"
)

// NameLen is the length of a run directory's name, in bytes.
const NameLen = len(prefix) + random

type Dir struct {
	Path string
	lock *os.File // tells others that the directory is in use
}

// New first removes the directories that killed hosts have left below base.
func New(base string) (*Dir, error) {
	sweep(base)
	path, err := mkdirRandom(base)
	if err != nil {
		return nil, fmt.Errorf("%w: making a run directory in %s: %w", fault.ErrHost, base, fault.System(err))
	}
	// The lock file gets its name only once it is locked: otherwise another host could take the directory for an
	// abandoned one.
	lock, err := filelock.File(filepath.Join(path, inUse+".new"), os.O_CREATE|os.O_EXCL)
	if err == nil {
		err = os.Rename(lock.Name(), filepath.Join(path, inUse))
	}
	if err != nil {
		return nil, errors.Join(
			fmt.Errorf("%w: locking the run directory %s: %w", fault.ErrHost, path, fault.System(err)),
			RemoveAll(path),
		)
	}
	return &Dir{Path: path, lock: lock}, nil
}

// mkdirRandom creates a new directory, which no other user could have prepared.
func mkdirRandom(base string) (string, error) {
	for {
		path := filepath.Join(base, prefix+strings.ToLower(rand.Text()[:random]))
		if err := os.Mkdir(path, 0o700); !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
}

// Gone reports whether the directory or its lock has been removed: programs that clean up temporary directories remove
// what was not touched for some days.
func (d *Dir) Gone() bool {
	ours, err := d.lock.Stat()
	if err != nil {
		return true
	}
	there, err := os.Stat(filepath.Join(d.Path, inUse))
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(ours, there)
}

func (d *Dir) Remove() error {
	return removeLocked(d.Path, d.lock)
}

// unfinished reports whether a directory without a lock was left by a host that was killed before it had made one, or
// while it tried what this machine can isolate. Both take moments.
func unfinished(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && time.Since(info.ModTime()) > time.Minute
}

// sweep removes run directories below base that no running host has locked. Those that cannot be locked or removed
// belong to another user, or are in use. A lock ends with its process, so it needs no cleanup.
func sweep(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return // mkdirRandom will report what is wrong with base
	}
	for _, e := range entries {
		if e.Type() != fs.ModeDir || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		path := filepath.Join(base, e.Name())
		lock, err := filelock.File(filepath.Join(path, inUse), 0)
		if errors.Is(err, fs.ErrNotExist) && unfinished(e) {
			_ = os.Remove(filepath.Join(path, inUse+".new"))
			_ = os.Remove(path) // only if there is nothing else in it
		}
		if err != nil {
			continue
		}
		_ = removeLocked(path, lock)
	}
}
