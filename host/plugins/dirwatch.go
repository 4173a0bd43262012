package plugins

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"
	"github.com/hashicorp/go-hclog"
)

// dirWatch watches directories, those too that are not there yet: for each that is not, the nearest one above it, until it
// comes. It belongs to one goroutine.
type dirWatch struct {
	*fsnotify.Watcher
	log    hclog.Logger
	wanted []string // absolute
}

func newDirWatch(log hclog.Logger, dirs []string) (*dirWatch, error) {
	inner, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &dirWatch{Watcher: inner, log: log}
	for _, dir := range dirs {
		if abs, err := filepath.Abs(dir); err == nil {
			w.wanted = append(w.wanted, abs)
		}
	}
	w.arm()
	return w, nil
}

// follow sees to it that the right directories are watched after an event, and reports whether it was about one of them or
// one above them.
func (w *dirWatch) follow(e fsnotify.Event) bool {
	const comesOrGoes = fsnotify.Create | fsnotify.Remove | fsnotify.Rename
	moved := e.Op.Has(comesOrGoes) && slices.ContainsFunc(w.wanted, func(dir string) bool {
		return dir == e.Name || strings.HasPrefix(dir, strings.TrimSuffix(e.Name, "/")+"/")
	})
	if moved {
		w.arm()
	}
	return moved
}

// arm watches every wanted directory or what is nearest to it, and nothing else.
func (w *dirWatch) arm() {
	needed := make(map[string]bool)
	for _, dir := range w.wanted {
		needed[w.nearest(dir)] = true
	}
	for _, dir := range w.WatchList() {
		if !needed[dir] {
			_ = w.Remove(dir) // it may be gone
		}
	}
}

// nearest watches dir, or the nearest directory above it that is there, and returns which; "" if that cannot be watched.
func (w *dirWatch) nearest(dir string) string {
	const tries = 10 // for directories that come and go while this looks
	for range tries {
		at := existing(dir)
		err := w.Add(at)
		switch {
		case err == nil && existing(dir) == at: // nothing came before it was watched
			return at
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			w.log.Debug("a directory is not watched", "dir", dir, "error", err)
			return ""
		}
	}
	return ""
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
