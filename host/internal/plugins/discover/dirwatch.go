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
	"golang.org/x/sys/unix"
)

// identityTime is how often to re-check that the plugin directories are the same ones. The system reports no event
// when a directory further up a path is replaced than those that are watched, as a deployment may do.
const identityTime = 30 * time.Second

// dirWatch watches directories, including those that do not exist yet: for each of these it watches the nearest
// existing parent until the directory appears. Only one goroutine may use it.
type dirWatch struct {
	// The Watcher is a new one each time arm is called: a watch stays with a directory, even if its path leads
	// elsewhere by now.
	*fsnotify.Watcher
	log    hclog.Logger
	wanted []string            // absolute paths
	armed  map[string]sighting // what was to be watched when arm was called
	warned map[string]bool     // directories for which a warning was logged
}

// sighting identifies the directory that a path led to. Two sightings are equal if it is the same directory.
type sighting struct {
	device, inode uint64
	// aside is set for a watch point: a directory in which a plugin directory could be replaced. It is neither a plugin
	// directory nor the nearest parent of one, and failing to watch it is not worth a warning.
	aside bool
}

// newDirWatch starts to watch. Relative paths are resolved now, so that a later change of the working directory has no
// effect.
func newDirWatch(log hclog.Logger, dirs []string) (*dirWatch, error) {
	w := &dirWatch{log: log, warned: make(map[string]bool)}
	for _, dir := range dirs {
		if abs, err := filepath.Abs(dir); err == nil {
			w.wanted = append(w.wanted, abs)
		}
	}
	return w, w.arm()
}

// close stops watching.
func (w *dirWatch) close() { _ = w.Close() }

// follow adjusts the watches after an event. It reports whether the event concerned a wanted directory or one above it.
func (w *dirWatch) follow(e fsnotify.Event) bool {
	const comesOrGoes = fsnotify.Create | fsnotify.Remove | fsnotify.Rename
	moved := e.Op.Has(comesOrGoes) && slices.ContainsFunc(w.wanted, func(dir string) bool {
		return dir == e.Name || strings.HasPrefix(dir, strings.TrimSuffix(e.Name, "/")+"/")
	})
	if moved {
		w.rearm()
	}
	return moved
}

// exchanged adjusts the watches if a directory was replaced without an event. It reports whether any path now leads to
// another directory.
func (w *dirWatch) exchanged() bool {
	if maps.Equal(w.survey(), w.armed) {
		return false
	}
	w.rearm()
	return true
}

// rearm is arm, but if no new watches can be made it logs the error and keeps the existing ones.
func (w *dirWatch) rearm() {
	if err := w.arm(); err != nil {
		w.log.Warn("watching the plugin directories failed", "error", err)
	}
}

// arm watches every wanted directory or its nearest existing parent, the watch points, and nothing else. It surveys
// again afterwards, since a directory may have appeared before its parent was watched.
func (w *dirWatch) arm() error {
	const tries = 10 // directories may come and go meanwhile
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
		if maps.Equal(w.survey(), w.armed) { // nothing came before it was watched
			break
		}
	}
	return nil
}

// survey returns the directories that must be watched now, by path.
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

// see identifies the directory at path. If there is none, the identity is zero.
func see(path string, aside bool) sighting {
	var stat unix.Stat_t
	if unix.Stat(path, &stat) != nil {
		return sighting{aside: aside}
	}
	return sighting{device: uint64(stat.Dev), inode: stat.Ino, aside: aside}
}

// watchPoints returns the directories in which dir could be replaced: those that contain a symbolic link on its path
// and, if dir exists, its parent. There are none outside Linux, because kqueue needs a descriptor for every file in a
// watched directory.
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

// existing returns path, or the nearest existing directory above it.
func existing(path string) string {
	for path != filepath.Dir(path) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}
