package process

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
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

const (
	runDirPrefix = "thresh-"
	runDirRandom = 6 // letters after the prefix; MkdirTemp's ten digits would not fit below macOS's long TMPDIR
	hostLock     = "host.lock"

	// maxSocketPath is what sun_path holds on the strictest system we run on (macOS), without the closing NUL.
	maxSocketPath = 103
	// socketSuffix is the longest that comes behind a run directory: go-plugin's own directory, where isolated plugins
	// find the host's files, and a socket.
	socketSuffix = "/plugin-dir4294967295/" + isolate.HostDir + "/plugin4294967295"
)

// runDir is the private directory of one spawner, readable by its user only. Each process gets a directory in it for
// its sockets, and as its working and temporary directory.
type runDir struct {
	path string
	lock *os.File // locked for as long as the spawner lives: that is how other hosts know that the directory is in use
}

// newRunDir creates a run directory below base ("": the system's temporary directory). It first removes the directories
// that killed hosts have left there. A base too long for socket paths is refused at once; sockets would fail much later
// with an unclear error.
func newRunDir(base string) (*runDir, error) {
	if base == "" {
		base = os.TempDir()
	}
	base, err := filepath.Abs(base)
	if err != nil {
		return nil, err
	}
	if n := len(base) + len("/") + len(runDirPrefix) + runDirRandom + len(socketSuffix); n > maxSocketPath {
		return nil, fmt.Errorf("the temporary directory %s is too long a path for sockets: %d bytes, at most %d fit; "+
			"set TMPDIR to a shorter one", base, len(base), len(base)-(n-maxSocketPath))
	}
	sweepRunDirs(base)
	path, err := mkdirRandom(base)
	if err != nil {
		return nil, fmt.Errorf("%w: making a run directory in %s: %w", fault.ErrHost, base, fault.System(err))
	}
	// The lock file gets its name only once it is locked. Otherwise another host could take the directory for an
	// abandoned one.
	lock, err := lockFile(filepath.Join(path, hostLock+".new"), os.O_CREATE|os.O_EXCL)
	if err == nil {
		err = os.Rename(lock.Name(), filepath.Join(path, hostLock))
	}
	if err != nil {
		return nil, errors.Join(
			fmt.Errorf("%w: locking the run directory %s: %w", fault.ErrHost, path, fault.System(err)),
			removeAll(path),
		)
	}
	return &runDir{path: path, lock: lock}, nil
}

// mkdirRandom creates a directory with a random name that did not exist, which no other user could have prepared.
func mkdirRandom(base string) (string, error) {
	for {
		path := filepath.Join(base, runDirPrefix+strings.ToLower(rand.Text()[:runDirRandom]))
		if err := os.Mkdir(path, 0o700); !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
}

// gone reports whether the directory, or the lock that tells other hosts that it is in use, is no longer there.
// Programs that clean up temporary directories remove what was not touched for some days.
func (d *runDir) gone() bool {
	ours, err := d.lock.Stat()
	if err != nil {
		return true
	}
	there, err := os.Stat(filepath.Join(d.path, hostLock))
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(ours, there)
}

// remove deletes the directory and releases the lock.
func (d *runDir) remove() error {
	return errors.Join(removeAll(d.path), d.lock.Close())
}

// unfinished reports whether a directory without a lock was left by a host that was killed before it had made one, or
// while it tried what this machine can isolate. Both take moments.
func unfinished(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && time.Since(info.ModTime()) > time.Minute
}

// sweepRunDirs removes run directories below base that no running host has locked. Directories that cannot be locked or
// removed stay: they belong to another user, or are in use. A lock ends with its process, so it needs no cleanup.
func sweepRunDirs(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return // mkdirRandom will report what is wrong with base
	}
	for _, e := range entries {
		if e.Type() != fs.ModeDir || !strings.HasPrefix(e.Name(), runDirPrefix) {
			continue
		}
		path := filepath.Join(base, e.Name())
		lock, err := lockFile(filepath.Join(path, hostLock), 0)
		if errors.Is(err, fs.ErrNotExist) && unfinished(e) {
			_ = os.Remove(filepath.Join(path, hostLock+".new"))
			_ = os.Remove(path) // only if there is nothing else in it
		}
		if err != nil {
			continue
		}
		_ = removeAll(path)
		_ = lock.Close()
	}
}
