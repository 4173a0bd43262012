package plugins

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

// identityTime is how often it is looked whether the directories are still the same: what happens further up their paths than is
// watched, such as a deployment that puts another tree in the place of one, is not told.
const identityTime = 30 * time.Second

// dirWatch watches directories, those too that are not there yet: for each that is not, the nearest one above it, until it
// comes. It belongs to one goroutine.
type dirWatch struct {
	*fsnotify.Watcher // another one whenever it is armed anew: a watch belongs to a directory, whatever is at its path by now
	log               hclog.Logger
	wanted            []string            // absolute
	armed             map[string]sighting // what was to be watched when it was armed
	warned            map[string]bool     // of which directories it was said that they cannot be watched
}

// sighting is which directory is at a path.
type sighting struct {
	device, inode uint64
	// aside says that it is no wanted one, nor in the place of one, but one in which it would be exchanged.
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

// close ends it. Where it could not be armed there is nothing to end.
func (w *dirWatch) close() { _ = w.Close() }

// follow sees to it that the right directories are watched after an event, and reports whether it was about one of them or
// one above them.
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

// exchanged does as follow does where there was no event, and reports whether any directory is another than it was.
func (w *dirWatch) exchanged() bool {
	if maps.Equal(w.survey(), w.armed) {
		return false
	}
	w.rearm()
	return true
}

// rearm goes on with the watches that there are if there can be no new ones.
func (w *dirWatch) rearm() {
	if err := w.arm(); err != nil {
		w.log.Warn("watching the plugin directories", "error", err)
	}
}

// arm watches every wanted directory or what is nearest to it, and nothing else.
func (w *dirWatch) arm() error {
	const tries = 10 // for directories that come and go while this looks
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
				w.log.Warn("a directory is not watched: what is new there is not noticed", "dir", dir, "error", err)
			}
		}
		if maps.Equal(w.survey(), w.armed) { // nothing came before it was watched
			break
		}
	}
	return nil
}

// survey says which directories have to be watched now, and which they are.
func (w *dirWatch) survey() map[string]sighting {
	found := make(map[string]sighting)
	for _, dir := range w.wanted {
		at := existing(dir)
		for _, hinge := range hinges(at, at == dir) {
			if _, ok := found[hinge]; !ok {
				found[hinge] = see(hinge, true)
			}
		}
		found[at] = see(at, false)
	}
	return found
}

// see says which directory is at path; the zero identity is none.
func see(path string, aside bool) sighting {
	var stat unix.Stat_t
	if unix.Stat(path, &stat) != nil {
		return sighting{aside: aside}
	}
	return sighting{device: uint64(stat.Dev), inode: stat.Ino, aside: aside}
}

// hinges are the directories in which another one is put at the path of dir: those with the symbolic links on the way to it and, if
// it is to stay, the one that it is in. Elsewhere than on Linux each file in a watched directory costs a descriptor, and there are
// none.
func hinges(dir string, stays bool) (in []string) {
	if runtime.GOOS != "linux" {
		return nil
	}
	if stays {
		in = append(in, filepath.Dir(dir))
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			in = append(in, filepath.Dir(dir))
		}
	}
	return in
}

// existing returns path, or the nearest directory above it that is there.
func existing(path string) string {
	for path != filepath.Dir(path) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}
