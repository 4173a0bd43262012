package plugins

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// The defaults of [Options].
const (
	DefaultStartTimeout    = 10 * time.Second
	DefaultOptimizeTimeout = 30 * time.Second
	DefaultCompressTimeout = 10 * time.Minute
	DefaultStopTimeout     = 2 * time.Second
	DefaultMaxAnswerBytes  = 64 << 20
)

// Options says where plugins are and what they may take. Each zero value stands for the default.
type Options struct {
	// Dirs are searched in this order. Relative ones are relative to the working directory.
	Dirs []string
	// Logger gets what happens to plugins and what they log; nil: nobody does. Its level is passed to the plugins.
	Logger hclog.Logger
	// HostVersion is told to plugins, for their logs.
	HostVersion string
	// RunDir is where the manager makes its private run directory; "" is the system's temporary directory. Its path must be
	// short, since sockets are made in it.
	RunDir string

	// StartTimeout bounds a start, from the process to the accepted Configure.
	StartTimeout time.Duration
	// OptimizeTimeout and CompressTimeout bound one call.
	OptimizeTimeout, CompressTimeout time.Duration
	// StopTimeout is what a plugin gets to end by itself before it is killed.
	StopTimeout time.Duration
	// MaxAnswerBytes bounds the edits or pieces of one answer, in bytes.
	MaxAnswerBytes int

	// Settings looks up the strategies' own settings; nil: they have their defaults.
	Settings Settings
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	for _, d := range []struct {
		value    *time.Duration
		standard time.Duration
	}{
		{&o.StartTimeout, DefaultStartTimeout},
		{&o.OptimizeTimeout, DefaultOptimizeTimeout},
		{&o.CompressTimeout, DefaultCompressTimeout},
		{&o.StopTimeout, DefaultStopTimeout},
	} {
		if *d.value <= 0 {
			*d.value = d.standard
		}
	}
	if o.MaxAnswerBytes <= 0 {
		o.MaxAnswerBytes = DefaultMaxAnswerBytes
	}
	return o
}

// Manager owns all plugin processes of a host. It is safe for concurrent use.
type Manager struct {
	opts  Options
	ctx   context.Context // ends with Close
	end   context.CancelCauseFunc
	close func() error // shutDown, once

	mu         sync.Mutex
	closed     bool
	strategies map[string]*Strategy
	run        *runDir // nil before the first start
	starter    *starter
	running    sync.WaitGroup // starts and processes; nothing is added once closed is set
}

// New returns a manager. It looks at no directory and starts nothing before it is asked to. Close it.
func New(o Options) *Manager {
	m := &Manager{opts: o.withDefaults(), strategies: make(map[string]*Strategy)}
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
	s.keep()
	if _, err := s.acquire(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// known returns the strategy by its name; the first time it looks whether there is a plugin.
func (m *Manager) known(name string) (*Strategy, error) {
	m.mu.Lock()
	s, ok := m.strategies[name]
	m.mu.Unlock()
	if ok {
		return s, nil
	}
	found := discover(m.opts.Dirs)
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
		s = &Strategy{manager: m, name: name}
		m.strategies[name] = s
	}
	return s
}

// start starts a process of a strategy. The start belongs to the manager and not to the caller who happened to come first:
// it goes on when that one has lost patience.
func (m *Manager) start(name string) (*process, error) {
	found := discover(m.opts.Dirs)
	c, ok := found.find(name)
	if !ok {
		return nil, found.unknown(name)
	}
	if err := m.prepare(); err != nil {
		return nil, &Error{Plugin: c.name, Path: c.path, Op: OpStart, Err: err}
	}
	if m.ctx.Err() != nil {
		return nil, ErrClosed
	}
	ctx, cancel := withTimeout(m.ctx, m.opts.StartTimeout)
	defer cancel()
	return launch(ctx, m, c)
}

// prepare makes what all processes share, the first time.
func (m *Manager) prepare() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.run != nil {
		return nil
	}
	run, err := newRunDir(m.opts.RunDir)
	if err != nil {
		return err
	}
	m.run, m.starter = run, newStarter()
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
