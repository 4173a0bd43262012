package discover

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/hashicorp/go-hclog"
)

// identityTime is how often to check that the plugin directories are still the same. No event reports that a directory
// further up a path was replaced, as a deployment may do.
const identityTime = 30 * time.Second

const separator = string(filepath.Separator)

// dirWatch watches directories; for one that does not exist yet, the nearest existing parent. It is for one goroutine.
type dirWatch struct {
	// arm makes a new Watcher each time: a watch follows a directory, not its path.
	*fsnotify.Watcher
	log    hclog.Logger
	wanted []string            // absolute
	armed  map[string]sighting // what was to be watched when arm was called
	warned map[string]bool     // directories already warned about
}

// sighting identifies the directory that a path led to.
type sighting struct {
	device, inode uint64
	// aside is set for a watch point, a directory in which a plugin directory could be replaced. Failing to watch it is
	// not worth a warning.
	aside bool
}

// newDirWatch resolves relative paths now, so a later change of the working directory has no effect.
func newDirWatch(log hclog.Logger, dirs []string) (*dirWatch, error) {
	w := &dirWatch{log: log, warned: make(map[string]bool)}
	for _, dir := range dirs {
		if abs, err := filepath.Abs(dir); err == nil {
			w.wanted = append(w.wanted, abs)
		}
	}
	return w, w.arm()
}

func (w *dirWatch) close() { _ = w.Close() }

// follow adjusts the watches after an event. It reports whether the event concerned a wanted directory or one above it.
func (w *dirWatch) follow(e fsnotify.Event) bool {
	const comesOrGoes = fsnotify.Create | fsnotify.Remove | fsnotify.Rename
	moved := e.Op.Has(comesOrGoes) && slices.ContainsFunc(w.wanted, func(dir string) bool {
		return dir == e.Name || strings.HasPrefix(dir, strings.TrimSuffix(e.Name, separator)+separator)
	})
	if moved {
		w.rearm()
	}
	return moved
}

// exchanged adjusts the watches if a directory was replaced without an event, and reports whether one was.
func (w *dirWatch) exchanged() bool {
	if maps.Equal(w.survey(), w.armed) {
		return false
	}
	w.rearm()
	return true
}

// rearm logs arm's error and keeps the existing watches.
func (w *dirWatch) rearm() {
	if err := w.arm(); err != nil {
		w.log.Warn("watching the plugin directories failed", "error", err)
	}
}

// arm watches every wanted directory or its nearest existing parent, the watch points, and nothing else. It surveys
// again afterwards: a directory may have appeared before its parent was watched.
func (w *dirWatch) arm() error {
	const tries = 10 // directories may change meanwhile
	for range tries {
		next, err := fsnotify.NewWatcher()
		if err != nil {
			return err
		}
		if w.Watcher != nil {
			w.close()
		}
		w.Watcher, w.armed = next, w.survey()
		for dir, s := range w.armed {
			if err := w.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) && !s.aside && !w.warned[dir] {
				w.warned[dir] = true
				w.log.Warn(
					"plugin directory is not watched: new versions of plugins there go unnoticed", "dir", dir,
					"error", err,
				)
			}
		}
		if maps.Equal(w.survey(), w.armed) { // nothing appeared before it was watched
			break
		}
	}
	return nil
}

func (w *dirWatch) survey() map[string]sighting {
	found := make(map[string]sighting)
	for _, dir := range w.wanted {
		at := existing(dir)
		for _, point := range watchPoints(at, at == dir) {
			if _, ok := found[point]; !ok {
				found[point] = see(point, true)
			}
		}
		found[at] = see(at, false)
	}
	return found
}

// see returns a zero identity if there is no directory at path.
func see(path string, aside bool) sighting {
	id, err := identifyPath(path)
	if err != nil {
		return sighting{aside: aside}
	}
	return sighting{device: id.device, inode: id.inode, aside: aside}
}

// watchPoints returns the directories in which dir could be replaced: those with a symbolic link on its path and, if
// dir exists, its parent. There are none outside Linux: kqueue needs a descriptor for every file in a watched
// directory.
func watchPoints(dir string, exists bool) (in []string) {
	if runtime.GOOS != "linux" {
		return nil
	}
	if exists {
		in = append(in, filepath.Dir(dir))
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			in = append(in, filepath.Dir(dir))
		}
	}
	return in
}

func existing(path string) string {
	for path != filepath.Dir(path) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}
