package plugins

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Integrity says which files may be run.
//
// Plugins that came with the host are trusted like the host itself unless the mode is [IntegrityLocked]: those in the folder
// plugins beside its executable that belong to the executable's owner. Who can change them can change the host.
type Integrity string

// The modes.
const (
	// IntegrityTOFU records a plugin when it is first seen, and refuses it when it has changed since, until people say that
	// the change is good (trust on first use). It is the default.
	IntegrityTOFU Integrity = "tofu"
	// IntegrityLocked refuses every plugin that is not in the lock file as it is.
	IntegrityLocked Integrity = "locked"
	// IntegrityOff runs anything, with a warning at each start.
	IntegrityOff Integrity = "off"
)

// trust decides which files may be run.
type trust struct {
	mode   Integrity
	guard  *guard // nil: anything
	ledger ledger
}

func newTrust(o Options) trust {
	t := trust{mode: o.Integrity, ledger: ledger{path: o.LockFile}}
	if t.mode != IntegrityOff {
		t.guard = newGuard(o.Executable)
	}
	return t
}

// needsNoHash says that a file may be run whatever it holds: it came with the host.
func (t trust) needsNoHash(path string, stat *unix.Stat_t) bool {
	return t.mode == IntegrityTOFU && t.guard.bundled(path, stat)
}

// verdict is what is known of a binary before it is started.
type verdict struct {
	known snapshot // what the lock file says that it is; empty: nothing
	first bool     // it is seen for the first time where it is, and to be recorded
}

// judge says whether a binary may be run. Errors wrap [ErrUntrusted].
func (m *Manager) judge(b *binary) (verdict, error) {
	if m.trust.mode == IntegrityOff {
		m.opts.Logger.Warn("plugins.integrity is off: a plugin is started whatever it is", "strategy", b.name, "path", b.path, "sha256", b.sum)
		return verdict{}, nil
	}
	var stat unix.Stat_t
	if err := unix.Fstat(int(b.file.Fd()), &stat); err != nil {
		return verdict{}, err
	}
	bundled := m.trust.guard.bundled(b.path, &stat)
	if problem := m.trust.guard.status(&stat, bundled); problem != "" { // it may have been replaced since it was discovered
		return verdict{}, fmt.Errorf("%w: it %s", ErrUntrusted, problem)
	}
	if bundled && m.trust.mode == IntegrityTOFU {
		return verdict{}, nil
	}
	key := ledgerKey(b.path)
	locked, ok, others, err := m.locked(key, b.sum)
	switch {
	case err != nil:
		return verdict{}, fmt.Errorf("%w: %w", ErrUntrusted, err)
	case !ok && m.trust.mode == IntegrityLocked:
		return verdict{}, fmt.Errorf("%w: it is not in the lock file %s", ErrUntrusted, m.trust.ledger.path)
	case !ok:
		if len(others) > 0 {
			m.opts.Logger.Warn("a plugin is seen for the first time whose name is locked elsewhere for another file",
				"strategy", b.name, "path", b.path, "sha256", b.sum, "locked", others)
		}
		return verdict{first: true}, nil
	case locked.SHA256 != b.sum:
		return verdict{}, fmt.Errorf("%w: the file has changed: its SHA-256 is %s, when it was locked it was %s", ErrUntrusted, b.sum, locked.SHA256)
	}
	moved := ledgerKey(locked.Path) != key
	return verdict{known: snapshot{sum: locked.SHA256, info: compact(locked.Info)}, first: moved && m.trust.mode == IntegrityTOFU}, nil
}

// locked looks a plugin up in the lock file, and among those that could not be written there. It returns what recorded does.
func (m *Manager) locked(key, sum string) (l Locked, ok bool, others []string, err error) {
	m.mu.Lock()
	l, ok, unwritten := recorded(m.seen, key, sum)
	m.mu.Unlock()
	if ok {
		return l, true, nil, nil
	}
	plugins, err := m.trust.ledger.read()
	l, ok, others = recorded(plugins, key, sum)
	return l, ok, append(others, unwritten...), err
}

// remember records a plugin that was seen for the first time.
func (m *Manager) remember(p *process) {
	l := p.locked()
	if m.trust.ledger.path != "" {
		err := m.trust.ledger.change(func(plugins map[string]Locked) {
			if _, taken := plugins[ledgerKey(l.Path)]; !taken { // another host may have been quicker
				enter(plugins, l)
			}
		})
		if err == nil {
			p.log.Info("the plugin was seen for the first time and is locked", "sha256", l.SHA256, "lockFile", m.trust.ledger.path)
			return
		}
		p.log.Warn("the plugin cannot be locked: a change is noticed only for as long as this host runs", "error", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	enter(m.seen, l)
}

func (p *process) locked() Locked {
	return Locked{SHA256: p.binary.sum, Path: p.path, Info: p.record, At: time.Now().UTC().Truncate(time.Second)}
}

// Lock starts the plugins with these names, or all usable ones if there are none, asks each what it is, and writes that to
// the lock file: from then on it is what they must be. It returns what was locked, by name, and why others were not.
func (m *Manager) Lock(ctx context.Context, names ...string) (map[string]Locked, error) {
	if m.trust.ledger.path == "" {
		return nil, errors.New("there is no place for a lock file: set plugins.lockFile")
	}
	found := m.discover()
	if len(names) == 0 {
		for _, c := range found.candidates {
			if c.usable() {
				names = append(names, c.name)
			}
		}
	}
	done := make(map[string]Locked)
	var errs []error
	for _, name := range names {
		l, err := m.lookAt(ctx, found, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		done[name] = l
	}
	if len(done) > 0 {
		if err := m.trust.ledger.change(func(plugins map[string]Locked) {
			for _, l := range done {
				enter(plugins, l)
			}
		}); err != nil {
			return nil, errors.Join(append(errs, fmt.Errorf("writing the lock file %s: %w", m.trust.ledger.path, err))...)
		}
	}
	m.mu.Lock()
	for _, l := range done {
		delete(m.seen, ledgerKey(l.Path))
	}
	strategies := slices.Collect(maps.Values(m.strategies))
	m.mu.Unlock()
	for _, s := range strategies {
		if _, ok := done[s.name]; ok {
			s.do(func(o *owner) { o.forgive("it was locked") })
		}
	}
	return done, errors.Join(errs...)
}

// lookAt starts a plugin, whatever the lock file says, and says what it is.
func (m *Manager) lookAt(ctx context.Context, found catalog, name string) (Locked, error) {
	c, ok := found.find(name)
	if !ok {
		return Locked{}, found.unknown(name)
	}
	if c.attached {
		return Locked{}, fmt.Errorf("%s was started by hand, so that there is no file to lock", name)
	}
	if err := m.prepare(); err != nil {
		return Locked{}, err
	}
	b, err := openBinary(c, &m.hashes, nil)
	if err != nil {
		return Locked{}, fmt.Errorf("%s: %w", c.path, err)
	}
	defer b.close()
	result := make(chan error, 1)
	var l Locked
	if !m.goes(func() {
		ctx, cancel := withTimeout(ctx, m.opts.StartTimeout)
		defer cancel()
		p, err := launch(ctx, m, b, snapshot{}, func(State) {})
		if p != nil && p.record != nil && (err == nil || errors.Is(err, ErrBadConfig) || errors.Is(err, ErrNotGranted)) { // its settings are another matter
			l, err = p.locked(), nil
		}
		if err == nil && p.alive() {
			p.end(errNotNeeded)
			p.destroy(m.opts.StopTimeout)
		}
		result <- err
	}) {
		return Locked{}, ErrClosed
	}
	err = <-result
	return l, err
}
