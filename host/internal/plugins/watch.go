package plugins

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watch makes what happens in the plugin directories known, and to the lock file, until the manager is closed.
func (m *Manager) watch() (run func(), err error) {
	w, err := newDirWatch(m.opts.Logger, m.watched())
	if err != nil {
		return nil, err
	}
	return func() { m.notice(w) }, nil
}

// watched are the directories in which something may happen that matters.
func (m *Manager) watched() []string {
	dirs := slices.Clone(m.opts.Dirs)
	if path := m.trust.ledger.path; path != "" {
		dirs = append(dirs, filepath.Dir(path))
	}
	return dirs
}

// notice looks at the directories again whenever something has happened there and then nothing more for a while: a file
// that is being copied is not to be looked at halfway.
func (m *Manager) notice(w *dirWatch) {
	defer w.close()
	tick, stop := m.ticks(identityTime)
	defer stop()
	const most = 10 // quiet times: so long does a directory in which something happens all the time wait
	var quiet <-chan time.Time
	var first time.Time
	for {
		select {
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if moved := w.follow(e); !moved && !m.concerns(e) {
				continue
			}
		case err, ok := <-w.Errors:
			if !ok {
				return
			}
			m.opts.Logger.Warn("watching the plugin directories", "error", err) // events may be lost, so look
			w.rearm()
		case <-tick:
			if !w.exchanged() {
				continue
			}
		case <-quiet:
			quiet = nil
			m.rescan()
			continue
		case <-m.ctx.Done():
			return
		}
		if quiet == nil {
			first = time.Now()
		}
		if quiet == nil || time.Since(first) < most*m.opts.QuietTime {
			quiet = time.After(m.opts.QuietTime)
		}
	}
}

// ticker is a clock of which time passes by itself, and how to stop it.
func ticker(every time.Duration) (tick <-chan time.Time, stop func()) {
	t := time.NewTicker(every)
	return t.C, t.Stop
}

func (m *Manager) concerns(e fsnotify.Event) bool {
	base := filepath.Base(e.Name)
	return strings.HasPrefix(base, FilePrefix) || base == filepath.Base(m.trust.ledger.path)
}

// rescan tells each strategy what its file is now.
func (m *Manager) rescan() {
	found := m.discover()
	m.mu.Lock()
	var all []*Strategy
	for _, s := range m.strategies {
		all = append(all, s)
	}
	m.mu.Unlock()
	for _, s := range all {
		c, ok := found.find(s.name)
		s.do(func(o *owner) { o.look(c, ok) })
	}
}
