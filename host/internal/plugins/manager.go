package plugins

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	osprocess "github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
)

// Manager owns all plugin processes of a host. It is safe for concurrent use.
type Manager struct {
	opts  Options
	ctx   context.Context // ends with Close
	end   context.CancelCauseFunc
	close func() error // shutDown, once

	trust  *trust.Policy
	hashes discover.Hashes
	checks func() []isolate.Check                                         // what this machine can enforce, found out once
	ticks  func(every time.Duration) (tick <-chan time.Time, stop func()) // for tests; nil: the real clock

	mu         sync.Mutex
	closed     bool
	strategies map[string]*Strategy
	spawner    *osprocess.Spawner // nil before the first start
	running    sync.WaitGroup     // starts, processes and the watcher; nothing is added once closed is set
}

// New returns a manager. It scans no directory and starts nothing before it is asked to. Close it.
func New(o Options) *Manager {
	m := &Manager{opts: o.withDefaults(), strategies: make(map[string]*Strategy)}
	m.trust = trust.New(string(m.opts.Integrity), m.opts.LockFile, m.opts.Executable, m.opts.Logger.Named("plugin"))
	m.checks = sync.OnceValue(isolate.Probe)
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
	p, err := s.acquireToKeep(ctx)
	if err != nil {
		return nil, err
	}
	p.release()
	return s, nil
}

// Reset takes a plugin out of quarantine and clears its crashes. It reports whether the plugin was ever started.
func (m *Manager) Reset(name string) bool {
	m.mu.Lock()
	s, ok := m.strategies[name]
	m.mu.Unlock()
	return ok && s.do(func(o *owner) { o.clearCrashes("plugin was reset") })
}

// scan looks at what is in the plugin directories now.
func (m *Manager) scan() discover.Catalog {
	return discover.Scan(m.opts.Dirs, m.trust.Guard()).Attach(m.opts.Attach)
}

// known returns the strategy by its name; the first time it looks whether there is a plugin.
func (m *Manager) known(name string) (*Strategy, error) {
	m.mu.Lock()
	s, ok := m.strategies[name]
	m.mu.Unlock()
	if ok {
		return s, nil
	}
	found := m.scan()
	if _, ok := found.Find(name); !ok {
		return nil, found.Unknown(name)
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

// start says how to start a process.
type start struct {
	// known is what the strategy's binary reported when it was last started.
	known trust.Snapshot
	// unless is the hash of a binary that need not be started, as it runs already.
	unless string
	// reached is called with each state on the way, and with the binary as soon as it is open.
	reached func(State, *discover.Binary)
}

// start starts a process of a strategy. The start belongs to the manager and not to the caller who happened to come first: it goes on
// when that caller gives up.
func (m *Manager) start(name string, s start) (*process, error) {
	found := m.scan()
	c, ok := found.Find(name)
	if !ok {
		return nil, found.Unknown(name)
	}
	s.reached(StateDiscovered, nil)
	if c.Attached {
		return m.attach(c, s)
	}
	if err := m.prepare(); err != nil {
		return nil, c.HostFailure(OpStart, err, "")
	}
	b, err := discover.Open(c, &m.hashes, m.trust.NeedsNoHash)
	if err != nil {
		return nil, c.HostFailure(OpStart, fmt.Errorf("%w: %w", ErrNotPlugin, err), "")
	}
	defer b.Close()
	if b.Sum == s.unless {
		return nil, errSame
	}
	verdict, err := m.trust.Judge(b)
	if err != nil {
		return nil, c.HostFailure(OpStart, err, "if you trust it: thresh plugins lock "+c.Name)
	}
	known := s.known
	if known.Sum != b.Sum {
		known = verdict.Known
	}
	s.reached(StateVerified, b)
	if m.ctx.Err() != nil {
		return nil, ErrClosed
	}
	p, err := m.launch(m.ctx, b, known, func(state State) { s.reached(state, nil) })
	if err == nil && verdict.First {
		m.trust.Remember(p.entry())
	}
	return p, err
}

// launch starts an opened binary, in a sandbox, within the start timeout.
func (m *Manager) launch(ctx context.Context, b *discover.Binary, known trust.Snapshot, reached func(State)) (*process, error) {
	sandbox, err := osprocess.NewSandbox(config.Plugins{Isolation: string(m.opts.Isolation), MaxMemoryBytes: m.opts.MaxMemoryBytes, Grants: m.opts.Grants}, b.Name, m.checks)
	if err != nil {
		return nil, b.HostFailure(OpStart, err, "'thresh doctor' shows what this machine can enforce")
	}
	ctx, cancel := withTimeout(ctx, m.opts.StartTimeout)
	defer cancel()
	return launch(ctx, m, &m.opts, b, sandbox, known, reached)
}

// attachedTimeout is how long a call waits for an attached plugin: a developer may be looking at it in a debugger.
const attachedTimeout = 24 * time.Hour

// attach connects to a plugin that a developer started by hand. It is used as it is: nothing verifies, isolates or supervises it, and
// calls wait for it as long as it takes.
func (m *Manager) attach(c discover.Candidate, s start) (*process, error) {
	if err := m.prepare(); err != nil {
		return nil, c.HostFailure(OpStart, err, "")
	}
	b := discover.Socket(c)
	if err := (osprocess.Spec{Binary: b}).CheckSocket(); err != nil {
		return nil, err
	}
	m.opts.Logger.Named("plugin").Warn("using an attached plugin: it is not verified, isolated or supervised, and calls to it have no timeout",
		"strategy", c.Name, "socket", c.Path)
	opts := m.opts
	opts.StartTimeout, opts.OptimizeTimeout, opts.CompressTimeout = attachedTimeout, attachedTimeout, attachedTimeout
	opts.Isolation = IsolationOff
	ctx, cancel := withTimeout(m.ctx, opts.StartTimeout)
	defer cancel()
	sandbox := osprocess.Sandbox{Lacking: []string{"everything: it was started by hand"}}
	return launch(ctx, m, &opts, b, sandbox, trust.Snapshot{}, func(state State) { s.reached(state, nil) })
}

// prepare makes what all processes share, the first time. Once the manager is closed it makes nothing, since nothing would remove it.
func (m *Manager) prepare() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return ErrClosed
	case m.spawner != nil:
		return nil
	}
	spawner, err := osprocess.NewSpawner(m.opts.RunDir)
	if err != nil {
		return err
	}
	m.spawner = spawner
	watch, err := discover.Watcher{
		Log: m.opts.Logger, Dirs: m.opts.Dirs, Files: []string{m.opts.LockFile}, QuietTime: m.opts.QuietTime, Ticks: m.ticks, Changed: m.rescan,
	}.Start()
	if err != nil {
		m.opts.Logger.Warn("plugin directories are not watched: new versions of plugins go unnoticed", "error", err)
		return nil
	}
	m.running.Go(func() { watch(m.ctx) })
	return nil
}

// rescan tells each strategy what its file is now.
func (m *Manager) rescan() {
	found := m.scan()
	for _, s := range m.all() {
		c, ok := found.Find(s.name)
		s.do(func(o *owner) { o.look(c, ok) })
	}
}

// all returns every strategy that was asked for so far.
func (m *Manager) all() []*Strategy {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.strategies))
}

// spawn runs f in a goroutine that Close waits for. It returns false if the manager is closed.
func (m *Manager) spawn(f func()) bool {
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
	states := make(map[string]State)
	for _, s := range m.all() {
		states[s.name], _ = s.State()
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
	if m.spawner == nil {
		return nil
	}
	return m.spawner.Close()
}
