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
// existing parent until the directory appears. It belongs to one goroutine.
type dirWatch struct {
	*fsnotify.Watcher // a new one each time arm is called: a watch stays with a directory, even if its path leads elsewhere now
	log               hclog.Logger
	wanted            []string            // absolute paths
	armed             map[string]sighting // what was to be watched when arm was called
	warned            map[string]bool     // directories for which a warning was logged
}

// sighting is which directory a path leads to.
type sighting struct {
	device, inode uint64
	// aside says that the directory is not a plugin directory or the nearest parent of one, but a watch point: one in
	// which a plugin directory could be replaced.
	aside bool
}

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

// follow adjusts the watches after an event, and reports whether the event was about a wanted directory or one above
// it.
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

// exchanged adjusts the watches where there was no event, and reports whether any path leads to another directory
// than before.
func (w *dirWatch) exchanged() bool {
	if maps.Equal(w.survey(), w.armed) {
		return false
	}
	w.rearm()
	return true
}

// rearm is arm, except that it keeps the existing watches if no new ones can be made.
func (w *dirWatch) rearm() {
	if err := w.arm(); err != nil {
		w.log.Warn("watching the plugin directories failed", "error", err)
	}
}

// arm watches every wanted directory or its nearest existing parent, the watch points, and nothing else.
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
				w.log.Warn("plugin directory is not watched: new versions of plugins there go unnoticed", "dir", dir, "error", err)
			}
		}
		if maps.Equal(w.survey(), w.armed) { // nothing came before it was watched
			break
		}
	}
	return nil
}

// survey returns the directories that have to be watched now, by path.
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

// see says which directory path leads to; without one, the identity is zero.
func see(path string, aside bool) sighting {
	var stat unix.Stat_t
	if unix.Stat(path, &stat) != nil {
		return sighting{aside: aside}
	}
	return sighting{device: uint64(stat.Dev), inode: stat.Ino, aside: aside}
}

// watchPoints are the directories in which dir could be replaced: those that hold a symbolic link on its path and, if
// it exists, its parent. There are none outside Linux, where each file in a watched directory costs a descriptor.
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

// existing returns path, or the nearest directory above it that exists.
func existing(path string) string {
	for path != filepath.Dir(path) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}
