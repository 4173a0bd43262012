package plugins

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/client"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/host/internal/plugins/supervise"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
)

// Manager owns all plugin processes of a host. It is safe for concurrent use.
type Manager struct {
	opts  Options
	log   hclog.Logger
	ctx   context.Context
	end   context.CancelCauseFunc
	close func() error // shutDown, once

	trust  *trust.Policy
	hashes discover.Hashes
	// checks probes what this machine can enforce, once: a probe starts processes.
	checks func() []isolate.Check
	ticks  func(every time.Duration) (tick <-chan time.Time, stop func()) // for tests; nil: the real clock

	supervision *supervise.Host

	// mu guards what follows. It is never held while a directory is read or a process starts.
	mu         sync.Mutex
	closed     bool
	strategies map[string]*Strategy
	spawner    *process.Spawner // nil before the first start
	running    sync.WaitGroup   // strategies, starts and the watcher; nothing is added once closed is set
}

// New returns a manager, which must be closed. It scans and starts nothing before it is asked to.
func New(o Options) *Manager {
	o = o.withDefaults()
	m := &Manager{opts: o, log: o.Logger.Named("plugin"), strategies: make(map[string]*Strategy)}
	m.trust = trust.New(o.Integrity, o.LockFile, m.log)
	m.checks = sync.OnceValue(isolate.Probe)
	m.ctx, m.end = context.WithCancelCause(context.Background())
	m.close = sync.OnceValue(m.shutDown)
	m.supervision = &supervise.Host{
		Ctx: m.ctx, Log: m.log, MaxCrashes: o.MaxCrashes, StopTimeout: o.StopTimeout,
		Start:  m.start,
		Rescan: func() { m.spawn(m.rescan) },
	}
	return m
}

// Strategy returns the strategy with the name, started and described. Concurrent callers share one start. A strategy
// whose process has ended is started again.
//
// Errors: [ErrUnknownStrategy], [ErrClosed], an [*Error] about the start, or ctx's.
func (m *Manager) Strategy(ctx context.Context, name string) (*Strategy, error) {
	s, err := m.known(name)
	if err != nil {
		return nil, err
	}
	if err := s.Need(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Names returns the sorted names of the usable plugins. It starts nothing.
func (m *Manager) Names() []string {
	var names []string
	for _, f := range m.scan().Candidates {
		if f.Usable() {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Check returns an [ErrUnknownStrategy] if neither a built-in strategy nor a file in the plugin directories has the
// name. It starts nothing: whether the file is a working plugin shows when it is used.
func (m *Manager) Check(name string) error {
	m.mu.Lock()
	_, known := m.strategies[name]
	m.mu.Unlock()
	// Known even if its file is gone by now: its process may still run.
	if known {
		return nil
	}
	if found := m.scan(); !found.Has(name) {
		return found.Unknown(name)
	}
	return nil
}

// BuiltIn reports whether the strategy with the name is a built-in one: a file with the name of one wins.
func (m *Manager) BuiltIn(name string) bool {
	return slices.ContainsFunc(m.scan().Candidates, func(c discover.Candidate) bool { return c.Name == name && c.BuiltIn })
}

// Info returns what a plugin reported when it was last started; the zero value if it never was.
func (m *Manager) Info(name string) (info sdk.Info) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.strategies[name]; s != nil {
		info = s.Info()
	}
	return info
}

// Reset takes a plugin out of quarantine and clears its crashes. It reports whether the plugin was ever started.
func (m *Manager) Reset(name string) bool {
	m.mu.Lock()
	s, ok := m.strategies[name]
	m.mu.Unlock()
	return ok && s.Reset("plugin was reset")
}

// EndSession tells all running plugins to drop what they hold of a session.
func (m *Manager) EndSession(id string) {
	for _, s := range m.all() {
		s.EndSession(id)
	}
}

// States returns the states of the strategies that were asked for so far, by name.
func (m *Manager) States() map[string]State {
	states := make(map[string]State)
	for _, s := range m.all() {
		states[s.Name()], _ = s.State()
	}
	return states
}

// Close ends every process, in a time bounded by StopTimeout and a few seconds. Calls under way fail with [ErrClosed].
// Concurrent and repeated calls return what the first one does.
func (m *Manager) Close() error { return m.close() }

func (m *Manager) shutDown() error {
	m.mu.Lock()
	// Before the wait: what begins after this sees it and does not start.
	m.closed = true
	m.mu.Unlock()
	m.end(ErrClosed)
	// Without the lock, which a start under way takes.
	m.running.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.spawner == nil {
		return nil
	}
	return m.spawner.Close()
}

func (m *Manager) scan() discover.Catalog {
	return discover.Scan(m.opts.Dirs, m.trust.Guard()).AddBuiltIn(m.opts.BuiltIn).Attach(m.opts.Attach)
}

// known checks, the first time, that there is a plugin.
func (m *Manager) known(name string) (*Strategy, error) {
	m.mu.Lock()
	s, ok := m.strategies[name]
	m.mu.Unlock()
	if ok {
		return s, nil
	}
	// Outside of the lock: directories may be on a slow disk. Of two concurrent callers both scan, and handle makes
	// one.
	found := m.scan()
	if _, ok := found.Find(name); !ok {
		return nil, found.Unknown(name)
	}
	return m.handle(name), nil
}

func (m *Manager) handle(name string) *Strategy {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.strategies[name]
	if !ok {
		s = supervise.New(m.supervision, name)
		m.strategies[name] = s
		if m.closed {
			// Too late: callers get ErrClosed and no process.
			s.Ended()
		} else {
			m.running.Go(s.Run)
		}
	}
	return s
}

func (m *Manager) all() []*Strategy {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.strategies))
}

// start belongs to the manager and not to the caller who happened to be first: it continues when that caller gives up.
func (m *Manager) start(name string, s supervise.Start) (*client.Plugin, error) {
	found := m.scan()
	c, ok := found.Find(name)
	if !ok {
		return nil, found.Unknown(name)
	}
	for _, f := range found.Candidates {
		if c.BuiltIn && f.Name == name && f.Problem != "" {
			m.log.Warn("the strategy that is built in is used instead of a file", "strategy", name, "path", f.Path,
				"problem", f.Problem)
		}
	}
	s.Reached(outcome.StateDiscovered, nil)
	if err := m.prepare(); err != nil {
		return nil, c.NotStarted(err, "")
	}
	if c.Attached {
		return m.attach(c, s)
	}
	b, err := discover.Open(c, &m.hashes)
	if err != nil {
		return nil, c.NotStarted(fmt.Errorf("%w: %w", ErrNotPlugin, err), "")
	}
	defer b.Close()
	// The supervisor asked for another file than the running one.
	if b.Sum == s.Unless {
		return nil, supervise.ErrSame
	}
	verdict, err := m.trust.Judge(b)
	if err != nil {
		// With the directory: the person may have named another one than the settings do.
		return nil, c.NotStarted(err, fmt.Sprintf("to accept it: thresh plugins lock --plugin-dir %s %s",
			filepath.Dir(c.Path), c.Name))
	}
	// What this host itself saw of the file takes precedence over the lock file.
	known := s.Known
	if known.Sum != b.Sum {
		known = verdict.Known
	}
	s.Reached(outcome.StateVerified, b)
	// Hashing a large file takes a while.
	if m.ctx.Err() != nil {
		return nil, ErrClosed
	}
	p, err := m.launch(m.ctx, b, known, func(state State) { s.Reached(state, nil) })
	if err == nil && verdict.First {
		entry, _ := p.Entry() // a ready plugin has one
		p.OnFirstUse(func() { m.trust.Remember(entry) })
	}
	return p, err
}

func (m *Manager) launch(
	ctx context.Context, b *discover.Binary, known trust.Snapshot, reached func(State),
) (*client.Plugin, error) {
	sandbox, err := process.NewSandbox(m.opts.Plugins, b.Name, m.checks)
	if err != nil {
		return nil, b.NotStarted(err, "'thresh doctor' shows what this machine can enforce")
	}
	m.warnOfMissing(b.Name, sandbox, m.hideHost(sandbox))
	return m.bringUp(ctx, m.clientOptions(), client.Spec{Binary: b, Sandbox: sandbox, Known: known}, reached)
}

// attachedTimeout is long: a developer may be looking at the plugin in a debugger.
const attachedTimeout = 24 * time.Hour

// attach connects to a plugin that a developer started by hand. Nothing verifies, isolates or supervises it.
func (m *Manager) attach(c discover.Candidate, s supervise.Start) (*client.Plugin, error) {
	b := discover.Socket(c)
	if err := (process.Spec{Binary: b}).CheckSocket(); err != nil {
		return nil, err
	}
	m.log.Warn("using an attached plugin: it is not verified, isolated or supervised, and calls to it have no timeout",
		"strategy", c.Name, "socket", c.Path)
	o := m.clientOptions()
	o.StartTimeout, o.OptimizeTimeout, o.CompressTimeout = attachedTimeout, attachedTimeout, attachedTimeout
	o.Isolation = process.IsolationOff
	spec := client.Spec{Binary: b, Sandbox: process.Sandbox{Lacking: []string{"everything: it was started by hand"}}}
	return m.bringUp(m.ctx, o, spec, func(state State) { s.Reached(state, nil) })
}

// bringUp applies the start timeout, and reports the states on the way.
func (m *Manager) bringUp(
	ctx context.Context, o client.Options, spec client.Spec, reached func(State),
) (*client.Plugin, error) {
	ctx, cancel := client.WithTimeout(ctx, o.StartTimeout)
	defer cancel()
	reached(outcome.StateStarting)
	spec.Described = func() { reached(outcome.StateDescribed) }
	return client.Launch(ctx, m.spawner, o, spec)
}

func (m *Manager) clientOptions() client.Options {
	return client.Options{
		Plugins: m.opts.Plugins, Limits: m.opts.Limits, HostVersion: m.opts.HostVersion, Logger: m.opts.Logger,
		Settings: m.opts.Settings, NoMirrors: m.opts.NoMirrors, Spawn: m.spawn,
	}
}

// prepare makes what all processes share, once. After Close it makes nothing, because nothing would remove it.
func (m *Manager) prepare() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return ErrClosed
	case m.spawner != nil:
		return nil
	}
	spawner, err := process.NewSpawner(m.opts.RunDir)
	if err != nil {
		return err
	}
	// Before the first start there is nothing to reload.
	m.spawner = spawner
	watch, err := discover.Watcher{
		Log: m.log, Dirs: m.opts.Dirs, Files: []string{m.opts.LockFile},
		QuietTime: m.opts.QuietTime, Ticks: m.ticks, Changed: m.rescan,
	}.Start()
	if err != nil {
		m.log.Warn("plugin directories are not watched: new versions of plugins go unnoticed", "error", err)
		return nil
	}
	m.running.Go(func() { watch(m.ctx) })
	return nil
}

// Rescan looks at the plugin directories now, rather than when a change is noticed.
func (m *Manager) Rescan() { m.spawn(m.rescan) }

// rescan tells each strategy what its file is now.
func (m *Manager) rescan() {
	found := m.scan()
	for _, s := range m.all() {
		c, ok := found.Find(s.Name())
		if !ok && found.Lack != nil {
			continue // the file may exist all the same
		}
		s.Look(c, ok)
	}
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
