package discover

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/hashicorp/go-hclog"
)

// DefaultQuietTime is how long the plugin directories must be unchanged before they are scanned again. Copying a plugin
// of 12 MB takes less, and an author does not notice the wait.
const DefaultQuietTime = 500 * time.Millisecond

// Watcher calls back after changes to plugin files. Set the fields, then call Start. Changed may be called without a
// change: it only means that a scan is due.
type Watcher struct {
	Log hclog.Logger
	// Dirs need not exist.
	Dirs []string
	// Files are further files to watch: the lock file. "" is none.
	Files []string
	// QuietTime is how long nothing must happen before Changed is called, so that no half-copied file is looked at.
	QuietTime time.Duration
	// Ticks replaces the clock by which the directories' identities are checked; nil: a [time.Ticker]. For tests.
	Ticks func(every time.Duration) (tick <-chan time.Time, stop func())
	// Changed is called from Run's goroutine.
	Changed func()
}

// Start begins to watch and returns the function that continues until ctx ends. Nothing is missed in between. An error
// means that the system offers no way to watch.
func (w Watcher) Start() (run func(ctx context.Context), err error) {
	dirs := slices.Clone(w.Dirs)
	for _, path := range w.Files {
		if path != "" {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	d, err := newDirWatch(w.Log, dirs)
	if err != nil {
		return nil, err
	}
	if w.Ticks == nil {
		w.Ticks = ticker
	}
	return func(ctx context.Context) { w.run(ctx, d) }, nil
}

// run collects events until it is quiet, then calls Changed; at the latest after ten quiet times.
func (w Watcher) run(ctx context.Context, d *dirWatch) {
	defer d.close()
	tick, stop := w.Ticks(identityTime)
	defer stop()
	const most = 10 // quiet times
	// quiet is nil while no change waits; first is when the first of the waiting changes came.
	var quiet <-chan time.Time
	var first time.Time
	for {
		select {
		case e, ok := <-d.Events:
			if !ok {
				return
			}
			if moved := d.follow(e); !moved && !w.concerns(e) {
				continue
			}
		case err, ok := <-d.Errors:
			if !ok {
				return
			}
			w.Log.Warn("watching the plugin directories failed", "error", err) // events may be lost, so scan
			d.rearm()
		case <-tick:
			if !d.exchanged() {
				continue
			}
		case <-quiet:
			quiet = nil
			w.Changed()
			continue
		case <-ctx.Done():
			return
		}
		if quiet == nil {
			first = time.Now()
		}
		if quiet == nil || time.Since(first) < most*w.QuietTime {
			quiet = time.After(w.QuietTime)
		}
	}
}

// concerns reports whether an event is about a plugin's file or one of Files. Others, such as logs in the same
// directory, must not cause scans.
func (w Watcher) concerns(e fsnotify.Event) bool {
	base := filepath.Base(e.Name)
	return strings.HasPrefix(base, FilePrefix) ||
		slices.ContainsFunc(w.Files, func(path string) bool { return path != "" && base == filepath.Base(path) })
}

func ticker(every time.Duration) (tick <-chan time.Time, stop func()) {
	t := time.NewTicker(every)
	return t.C, t.Stop
}
