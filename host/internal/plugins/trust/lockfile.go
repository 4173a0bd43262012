package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/internal/atomicfile"
	"github.com/thresh-dev/thresh/internal/filelock"
)

// lockFile records what each plugin was when it was first seen, or when a person last locked it. All hosts of a user
// share it.
type lockFile struct {
	path string // "": there is none, and nothing is stored
	// guard objects to a file or directory that others can write to; nil: to nothing.
	guard *guard
}

// Entry is one plugin in the lock file.
type Entry struct {
	// SHA256 is in hexadecimal.
	SHA256 string `json:"sha256"`
	// Path is where the file is, as the directory is configured. In the lock file it is the entry's key instead, with
	// the directory's real path.
	Path string `json:"path,omitempty"`
	// Info is what the plugin reports about itself; see [Record].
	Info json.RawMessage `json:"info"`
	At   time.Time       `json:"at"`
	// Locked is set if a person locked it; if not, At is when it was first used.
	Locked bool `json:"locked,omitempty"`
	// Origin is set if the file was installed, and is still what was.
	Origin *Origin `json:"origin,omitempty"`
	// Was is set while an installation replaces the file: the SHA-256 that it had, which is trusted until then.
	Was string `json:"was,omitempty"`
}

// Origin is where an installed plugin is from.
type Origin struct {
	Source  string `json:"source"`
	Version string `json:"version"`
	// Wanted is the version or range that was asked for; "" for the newest.
	Wanted string `json:"wanted,omitempty"`
	// Key is the publisher's public key; "" if the release was not signed.
	Key string `json:"key,omitempty"`
	// Archives has the SHA-256 of the version's archives, by platform, such as linux/amd64.
	Archives map[string]string `json:"archives,omitempty"`
}

// changed says that a file is not the one that was recorded.
func (e Entry) changed() string {
	did := "first used"
	if e.Locked {
		did = "locked"
	}
	return fmt.Sprintf("the file has changed since it was %s, at %s UTC", did, e.At.UTC().Format(time.DateTime))
}

// NewEntry returns the entry of a plugin that is recorded now, to the second.
func NewEntry(path, sum string, info json.RawMessage) Entry {
	return Entry{SHA256: sum, Path: path, Info: info, At: time.Now().UTC().Truncate(time.Second)}
}

// Plugins are keyed by lockKey, not by name: two directories may contain plugins of the same name.
type lockFileContent struct {
	Version int              `json:"version"`
	Plugins map[string]Entry `json:"plugins"`
}

const (
	// lockFileVersion is the only version that is read. Another is an error, not an empty file, which would trust every
	// plugin again.
	lockFileVersion = 2
	// maxLockFile bounds what is read and written, in bytes: more than a hundred plugins that declare as much as they
	// may, indented, and many thousands of ordinary ones.
	maxLockFile = 64 << 20
	// lockTimeout is how long a change waits for another host's.
	lockTimeout = 5 * time.Second
)

// lockKey returns a plugin file's name in the real directory, however the path was spelled. The name itself may be a
// symbolic link, for example from steady to steady-1.2.3, and must be the same across versions.
func lockKey(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path // the directory does not exist
	}
	return filepath.Join(dir, filepath.Base(path))
}

// read returns the file's entries by lockKey; none if there is no file yet. A damaged file is an error, never an empty
// one: it would trust every plugin again on first use.
func (l lockFile) read() (map[string]Entry, error) {
	if l.path == "" {
		return nil, nil
	}
	if l.guard != nil {
		if err := l.guard.lockFile(l.path); err != nil {
			return nil, err
		}
	}
	raw, err := atomicfile.Read(l.path, maxLockFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the lock file: %w", err)
	}
	var content lockFileContent
	if err := json.Unmarshal(raw, &content); err != nil {
		return nil, fmt.Errorf(
			"the lock file %s is damaged: %w; repair it, or remove it and lock the plugins again", l.path, err,
		)
	}
	if content.Version != lockFileVersion {
		return nil, fmt.Errorf(
			"the lock file %s has version %d, this host reads version %d: run the thresh that wrote it, "+
				"or remove it and lock the plugins again", l.path, content.Version, lockFileVersion,
		)
	}
	// Callers need not pass the key along.
	for key, e := range content.Plugins {
		e.Path = key
		content.Plugins[key] = e
	}
	return content.Plugins, nil
}

// find returns the entry for a plugin's file: the one with its key, else one with the same file name and hash, because
// a file that was moved or copied is still trusted. Plugins with the same file name but another hash are other plugins;
// others holds their keys, for messages.
func find(plugins map[string]Entry, key, sum string) (e Entry, ok bool, others []string) {
	if e, ok := plugins[key]; ok {
		return e, true, nil
	}
	for other, e := range plugins {
		if filepath.Base(other) != filepath.Base(key) {
			continue
		}
		if e.SHA256 == sum {
			return e, true, nil
		}
		others = append(others, other)
	}
	slices.Sort(others)
	return Entry{}, false, others
}

// change lets f change the entries, and replaces the file atomically. Concurrent changes of several hosts wait for each
// other, and a reader sees either the old file or the new one.
func (l lockFile) change(f func(map[string]Entry)) error {
	dir := filepath.Dir(l.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	unlock, err := lockDirectory(dir)
	if err != nil {
		return fmt.Errorf("locking %s: %w", dir, err)
	}
	defer unlock()
	plugins, err := l.read()
	if err != nil {
		return err
	}
	if plugins == nil {
		plugins = make(map[string]Entry)
	}
	f(plugins)
	for path, e := range plugins {
		e.Path = "" // the key says it
		plugins[path] = e
	}
	raw, err := json.MarshalIndent(lockFileContent{Version: lockFileVersion, Plugins: plugins}, "", "  ")
	if err != nil {
		return err
	}
	// A file that cannot be read again would stop every plugin of the user.
	if len(raw) >= maxLockFile {
		return fmt.Errorf("the lock file %s would have %d bytes, at most %d are read: remove entries of plugins that "+
			"are gone", l.path, len(raw), maxLockFile)
	}
	return atomicfile.Write(l.path, atomicfile.Private, func(w io.Writer) error {
		_, err := w.Write(append(raw, '\n'))
		return err
	})
}

// lockDirectory waits up to lockTimeout for an exclusive lock on the directory. The file itself cannot carry the lock,
// because it is replaced. The kernel releases the lock if the host dies.
func lockDirectory(dir string) (unlock func(), err error) {
	deadline := time.Now().Add(lockTimeout)
	for {
		f, err := filelock.Directory(dir)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, filelock.ErrHeld) || time.Now().After(deadline) {
			return nil, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}
