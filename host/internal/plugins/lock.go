package plugins

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/supervise"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
)

// Lock starts the plugins with these names, or all usable ones if there are none, asks each what it is, and writes that
// to the lock file: from then on it must stay the same. It returns what was locked, by name, and why others were not.
func (m *Manager) Lock(ctx context.Context, names ...string) (map[string]Locked, error) {
	// Without a lock file to write, no plugin need be started.
	if err := m.trust.CanLock(); err != nil {
		return nil, err
	}
	found := m.scan()
	if len(names) == 0 {
		for _, c := range found.Candidates {
			// Shadowed and broken files are not what would run.
			if c.Usable() && !c.BuiltIn {
				names = append(names, c.Name)
			}
		}
	}
	done := make(map[string]Locked)
	var entries []Locked
	var errs []error
	for _, name := range names {
		e, err := m.lookAt(ctx, found, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		done[name], entries = e, append(entries, e)
	}
	// One write: the file is never seen with half of what was asked for.
	if len(entries) > 0 {
		if err := m.trust.Lock(entries); err != nil {
			return nil, errors.Join(append(errs, err)...)
		}
	}
	for _, s := range m.all() {
		if _, ok := done[s.Name()]; ok {
			// A plugin that was refused because of its hash is tried again at the next call.
			s.Reset("plugin was locked")
		}
	}
	return done, errors.Join(errs...)
}

// Look starts a plugin, whatever the lock file says of it, and returns what it is. It writes nothing.
func (m *Manager) Look(ctx context.Context, name string) (Locked, error) {
	return m.lookAt(ctx, m.scan(), name)
}

// lookAt starts a plugin, even if the lock file forbids it, and returns its entry for the lock file.
func (m *Manager) lookAt(ctx context.Context, found discover.Catalog, name string) (Locked, error) {
	c, ok := found.Find(name)
	if !ok {
		return Locked{}, found.Unknown(name)
	}
	switch {
	case c.Attached:
		return Locked{}, fmt.Errorf("%s was started by hand, so there is no file to lock", name)
	case c.BuiltIn:
		return Locked{}, fmt.Errorf("%s is built in, so there is no file to lock: it is trusted as this program is", name)
	}
	if err := m.prepare(); err != nil {
		return Locked{}, err
	}
	// The file stays open from here: what is hashed is what is started.
	b, err := discover.Open(c, &m.hashes)
	if err != nil {
		return Locked{}, fmt.Errorf("%s: %w", c.Path, err)
	}
	defer b.Close()
	result := make(chan error, 1)
	var e Locked
	if !m.spawn(func() {
		// With nothing known: the lock file must not prevent locking again.
		p, err := m.launch(ctx, b, trust.Snapshot{}, func(State) {})
		if err == nil {
			p.End(supervise.ErrNotNeeded)
			p.Close(m.opts.StopTimeout)
		}
		// A plugin that only lacks good settings or a grant can be locked all the same.
		if err == nil || errors.Is(err, ErrBadConfig) || errors.Is(err, ErrNotGranted) {
			var described bool
			if e, described = p.Entry(); described {
				err = nil
			}
		}
		result <- err
	}) {
		return Locked{}, ErrClosed
	}
	err = <-result
	return e, err
}
