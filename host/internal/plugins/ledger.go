package plugins

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

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// ledger is the lock file: what each plugin was when it was first seen, or when people last said that it is good.
type ledger struct {
	path string // "": there is none
}

// Locked is one plugin in the lock file.
type Locked struct {
	// SHA256 of the file, in hexadecimal.
	SHA256 string `json:"sha256"`
	// Path is where the file is, as the directory is configured. The lock file has it as the entry's key, with the directory's
	// real path.
	Path string `json:"path,omitempty"`
	// Info is what it said about itself.
	Info json.RawMessage `json:"info"`
	// At is when it was locked.
	At time.Time `json:"at"`
}

// ledgerFile is the lock file's content. Plugins are by ledgerKey: two directories may well hold plugins of the same name.
type ledgerFile struct {
	Version int               `json:"version"`
	Plugins map[string]Locked `json:"plugins"`
}

const (
	ledgerVersion = 2
	// nameVersion is the form in which plugins were by name, with the path beside it. The first change makes it the one above, in
	// which what is no longer at its path keeps its name for a key, and so stands for the plugin wherever it is found next.
	nameVersion = 1
	// ledgerBytes bounds what is read: a thousand plugins with a thousand settings fit.
	ledgerBytes = 64 << 20
	// ledgerWait is how long a change waits for another host's.
	ledgerWait = 5 * time.Second
)

// ledgerKey is what a plugin's file is called in the lock file: its name in the real directory, however that was spelled. The name
// may itself be a symbolic link, as from steady to steady-1.2.3.
func ledgerKey(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path // it is gone, or has never been
	}
	return filepath.Join(dir, filepath.Base(path))
}

// nameKey is what a plugin is called of which only the name is known.
func nameKey(path string) string { return filepath.Base(path) }

// read returns what the file holds, by ledgerKey; nothing if there is none yet.
func (l ledger) read() (map[string]Locked, error) {
	if l.path == "" {
		return nil, nil
	}
	if info, err := os.Stat(l.path); err == nil && info.Size() > ledgerBytes {
		return nil, fmt.Errorf("the lock file %s is too large: %d bytes", l.path, info.Size())
	}
	raw, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the lock file: %w", err)
	}
	var file ledgerFile
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("the lock file %s is damaged: %w; repair it, or remove it and lock the plugins again", l.path, err)
	}
	plugins := make(map[string]Locked, len(file.Plugins))
	for key, locked := range file.Plugins {
		switch file.Version {
		case nameVersion:
			if _, err := os.Stat(locked.Path); err != nil {
				plugins[FilePrefix+key] = locked
				continue
			}
			plugins[ledgerKey(locked.Path)] = locked
		case ledgerVersion:
			locked.Path = key
			plugins[key] = locked
		}
	}
	if file.Version != nameVersion && file.Version != ledgerVersion {
		return nil, fmt.Errorf("the lock file %s has version %d, this host knows the versions %d and %d", l.path, file.Version, nameVersion, ledgerVersion)
	}
	return plugins, nil
}

// recorded returns what is locked for a plugin's file: the entry of its key, else one of the same name for the same bytes, as a
// file that was moved or copied is what it was, else one that has nothing but the name. Another plugin that happens to have the
// name in another directory is another plugin; others are the keys of those.
func recorded(plugins map[string]Locked, key, sum string) (locked Locked, ok bool, others []string) {
	if l, ok := plugins[key]; ok {
		return l, true, nil
	}
	for other, l := range plugins {
		if nameKey(other) != nameKey(key) {
			continue
		}
		if l.SHA256 == sum {
			return l, true, nil
		}
		others = append(others, other)
	}
	if l, ok := plugins[nameKey(key)]; ok {
		return l, true, nil
	}
	slices.Sort(others)
	return Locked{}, false, others
}

// enter records a plugin. Where it is, is known from then on.
func enter(plugins map[string]Locked, l Locked) {
	key := ledgerKey(l.Path)
	delete(plugins, nameKey(key))
	plugins[key] = l
}

// change reads the file, lets f change what it holds, and replaces it. Hosts that do so at the same time wait for each other,
// and whoever reads sees the old file or the new one.
func (l ledger) change(f func(map[string]Locked)) error {
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
		plugins = make(map[string]Locked)
	}
	f(plugins)
	for path, locked := range plugins {
		locked.Path = ""
		plugins[path] = locked
	}
	raw, err := json.MarshalIndent(ledgerFile{Version: ledgerVersion, Plugins: plugins}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(l.path, 0o600, func(w io.Writer) error {
		_, err := w.Write(append(raw, '\n'))
		return err
	})
}

// lockDirectory waits until nobody else has the directory locked.
func lockDirectory(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(ledgerWait)
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(deadline) {
			return nil, errors.Join(err, f.Close())
		}
		time.Sleep(10 * time.Millisecond)
	}
}
