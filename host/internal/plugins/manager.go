package plugins

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// Manager owns all plugin processes of a host. It is safe for concurrent use.
type Manager struct {
	opts  Options
	ctx   context.Context // ends with Close
	end   context.CancelCauseFunc
	close func() error // shutDown, once

	trust  trust
	hashes hashes
	checks func() []isolate.Check // what this machine can enforce, found out once
	ticks  func(every time.Duration) (tick <-chan time.Time, stop func())

	mu         sync.Mutex
	closed     bool
	strategies map[string]*Strategy
	seen       map[string]Locked // by ledgerKey: plugins that were seen for the first time and could not be written to the lock file
	run        *runDir           // nil before the first start
	starter    *starter
	running    sync.WaitGroup // starts and processes; nothing is added once closed is set
}

// New returns a manager. It looks at no directory and starts nothing before it is asked to. Close it.
func New(o Options) *Manager {
	m := &Manager{opts: o.withDefaults(), strategies: make(map[string]*Strategy), seen: make(map[string]Locked)}
	m.trust = newTrust(m.opts)
	m.checks = sync.OnceValue(isolate.Probe)
	m.ticks = ticker
	m.ctx, m.end = context.WithCancelCause(context.Background())
	m.close = sync.OnceValue(m.shutDown)
	return m
}

// Strategy returns the strategy with the name, started and described. Callers that come while it starts wait for that
// start. A strategy whose process has ended is started again.
//
// Errors: [ErrUnknownStrategy], [ErrClosed], an [*Error] about the start, or ctx's.
func (m *Manager) Strategy(ctx context.Context, name string) (*Strategy, error) {
	s, err := m.known(name)
	if err != nil {
		return nil, err
	}
	p, err := s.keep(ctx)
	if err != nil {
		return nil, err
	}
	p.release()
	return s, nil
}

// Reset takes a plugin out of quarantine and forgets its crashes. It reports whether the plugin was ever started.
func (m *Manager) Reset(name string) bool {
	m.mu.Lock()
	s, ok := m.strategies[name]
	m.mu.Unlock()
	return ok && s.do(func(o *owner) { o.forgive("it was reset") })
}

// discover looks at what is in the plugin directories now.
func (m *Manager) discover() catalog {
	return discover(m.opts.Dirs, m.trust.guard).attach(m.opts.Attach)
}

// known returns the strategy by its name; the first time it looks whether there is a plugin.
func (m *Manager) known(name string) (*Strategy, error) {
	m.mu.Lock()
	s, ok := m.strategies[name]
	m.mu.Unlock()
	if ok {
		return s, nil
	}
	found := m.discover()
	if _, ok := found.find(name); !ok {
		return nil, found.unknown(name)
	}
	return m.handle(name), nil
}

// handle returns the strategy's one handle.
func (m *Manager) handle(name string) *Strategy {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.strategies[name]
	if !ok {
		s = newStrategy(m, name)
		m.strategies[name] = s
		if m.closed {
			close(s.ended)
		} else {
			m.running.Go(newOwner(s).run)
		}
	}
	return s
}

// start is what matters to the start of a process.
type start struct {
	// known is what the strategy's binary was and said when it was last started.
	known snapshot
	// unless is the hash of a binary that need not be started, as it runs.
	unless string
	// reached is told each state on the way, and the binary as soon as there is one.
	reached func(State, *binary)
}

// start starts a process of a strategy. The start belongs to the manager and not to the caller who happened to come first:
// it goes on when that one has lost patience.
func (m *Manager) start(name string, s start) (*process, error) {
	found := m.discover()
	c, ok := found.find(name)
	if !ok {
		return nil, found.unknown(name)
	}
	s.reached(StateDiscovered, nil)
	if c.attached {
		return m.attach(c, s)
	}
	failed := func(err error) error { return &Error{Plugin: c.name, Path: c.path, Op: OpStart, Err: err, ours: true} }
	if err := m.prepare(); err != nil {
		return nil, failed(err)
	}
	b, err := openBinary(c, &m.hashes, m.trust.needsNoHash)
	if err != nil {
		return nil, failed(fmt.Errorf("%w: %w", ErrNotPlugin, err))
	}
	defer b.close()
	if b.sum == s.unless {
		return nil, errSame
	}
	verdict, err := m.judge(b)
	if err != nil {
		failure := &Error{Plugin: c.name, Path: c.path, Op: OpStart, Err: err, ours: true}
		failure.Hint = "if you know it to be good: thresh plugins lock " + c.name
		return nil, failure
	}
	known := s.known
	if known.sum != b.sum {
		known = verdict.known
	}
	s.reached(StateVerified, b)
	if m.ctx.Err() != nil {
		return nil, ErrClosed
	}
	ctx, cancel := withTimeout(m.ctx, m.opts.StartTimeout)
	defer cancel()
	p, err := launch(ctx, m, b, known, func(state State) { s.reached(state, nil) })
	if err == nil && verdict.first {
		m.remember(p)
	}
	return p, err
}

// prepare makes what all processes share, the first time. Nothing is made once the manager is closed, as nobody would remove it.
func (m *Manager) prepare() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return ErrClosed
	case m.run != nil:
		return nil
	}
	run, err := newRunDir(m.opts.RunDir)
	if err != nil {
		return err
	}
	m.run, m.starter = run, newStarter()
	watch, err := m.watch()
	if err != nil {
		m.opts.Logger.Warn("the plugin directories are not watched: new versions of plugins are not noticed", "error", err)
		return nil
	}
	m.running.Go(watch)
	return nil
}

// goes runs f in a goroutine that Close waits for, or reports that the manager is closed.
func (m *Manager) goes(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.running.Go(f)
	return true
}

// States are the states of the strategies that were asked for so far, by name. It starts nothing.
func (m *Manager) States() map[string]State {
	m.mu.Lock()
	defer m.mu.Unlock()
	states := make(map[string]State, len(m.strategies))
	for name, s := range m.strategies {
		states[name], _ = s.State()
	}
	return states
}

// Close ends every process, in a time bounded by StopTimeout and a few seconds. Calls that are going on fail with
// [ErrClosed]. It is safe to call again, also at the same time, and then returns what the first returned.
func (m *Manager) Close() error { return m.close() }

func (m *Manager) shutDown() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.end(ErrClosed)
	m.running.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.run == nil {
		return nil
	}
	m.starter.close()
	return m.run.remove()
}
