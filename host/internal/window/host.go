package window

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/otel/metric"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/builtin"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/keep"
	"github.com/thresh-dev/thresh/host/internal/metrics"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/plugins/client"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/internal/buildinfo"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Options are what a host is made of.
type Options struct {
	// Config is required. The zero value of all else logs on standard error and measures nothing.
	Config *config.Config
	// Logger receives the logs of the host and of the plugins. Nil is standard error, at the level of the setting
	// log.level.
	Logger hclog.Logger
	// Meter receives the measurements that package metrics lists, which never contain conversation text. Nil measures
	// nothing.
	Meter metric.MeterProvider
	// Attach maps strategies to the sockets of processes started by hand (--attach), for debugging. It is not a
	// setting, because a file must not be able to decide it.
	Attach map[string]string
	// Keep keeps sessions where the setting sessions.store says, and what they learn of a model for later ones. The
	// lab's sessions end with their host, and all begin alike.
	Keep bool
	// Granted returns the profiles that an access token may choose by name; nil for no token any.
	Granted func(ctx context.Context, token string) ([]string, error)
	// Book counts what a request to a model may cost a session's owner, in US dollars, before it is sent, as [llm.Book]
	// does. Nil counts and refuses nothing.
	Book func(ctx context.Context, owner string, usd float64) (settle func(usd float64), err error)
	// Store keeps sessions in place of the setting's store; the host does not close it. Nil is none.
	Store store.Store
}

// Host owns sessions and plugin processes. Unless it is closed, its processes live as long as the program.
type Host struct {
	config  atomic.Pointer[config.Config] // what sessions start with; Reload replaces it
	log     hclog.Logger
	plugins *plugins.Manager
	models  models
	prices  catalog
	granted func(ctx context.Context, token string) ([]string, error)
	book    func(ctx context.Context, owner string, usd float64) (settle func(usd float64), err error)

	// calibrations are what sessions learned about models, for later sessions to begin with; nil without Options.Keep.
	calibrations *calibrations

	taxonomies shared[string, tools.Taxonomy]
	rules      shared[string, keep.Rules]
	configs    shared[configKey, config.Config]

	metrics *metrics.Recorder // nil without a meter

	store      store.Store // nil: nothing is kept, in the lab
	closeStore func() error
	keeper     *journal.Keeper

	background sync.WaitGroup // what the host does besides its calls
	told       told
	done       chan struct{} // closed with the host

	mu       sync.Mutex // guards the fields below; never held during a call of a plugin or of the store
	sessions map[store.Key]*Session
	closed   bool
}

// Open makes a host, and checks the settings that need no plugin. A plugin is started when a session first needs it.
func Open(o Options) (*Host, error) {
	c := o.Config
	set := c.Settings()
	prices := newCatalog(set.Model.PriceFile)
	// A mistake fails the opening and not a turn.
	if err := prices.check(c); err != nil {
		return nil, err
	}
	logger := o.Logger
	if logger == nil {
		logger = DefaultLogger(os.Stderr, set.Log)
	}
	var h *Host
	temp, _ := c.LookupEnv("TMPDIR")
	manager := plugins.New(plugins.Options{
		Plugins: set.Plugins, Logger: logger, HostVersion: buildinfo.Version(), BuiltIn: builtin.Names(),
		// By the present configuration, which may have been reloaded.
		Settings: func(name string, declared []config.Spec) (map[string]any, error) {
			return h.Config().Strategy(name, declared)
		},
		Attach: o.Attach, RunDir: temp, NoMirrors: set.Plugins.MirrorBytes == 0,
	})
	kept, closeStore, err := openStore(o, set)
	if err != nil {
		return nil, errors.Join(err, manager.Close())
	}
	h = &Host{log: logger, plugins: manager, prices: prices, sessions: map[store.Key]*Session{},
		models: models{log: logger, env: c.LookupEnv}, granted: o.Granted, book: o.Book, store: kept,
		closeStore: closeStore, done: make(chan struct{})}
	h.keeper = journal.NewKeeper(kept, rand.Text(),
		func() int64 { return int64(h.Config().Settings().Sessions.MaxMemory) })
	h.config.Store(c)
	if o.Keep {
		h.calibrations = &calibrations{known: map[calibrated]tokens.Calibration{}}
	}
	h.metrics, err = metrics.New(o.Meter, metrics.Sources{
		Version: buildinfo.Version(), Sessions: h.openSessions, Plugins: manager.States,
		Lacking: manager.Lacking,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the host: %w", err), manager.Close(), closeStore())
	}
	if kept != nil {
		ctx, stop := context.WithCancel(context.Background())
		var ended sync.WaitGroup
		ended.Go(func() { h.expire(ctx, kept) })
		h.closeStore = func() error { stop(); ended.Wait(); return closeStore() }
	}
	return h, nil
}

func (h *Host) openSessions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// ReexecMain lets the host start its own program again: as a strategy that ships, and on Linux as a launcher that
// isolates a plugin. Call it first in main; in such a process it does not return. Without it a program has only
// strategies in files, and runs them without isolation, as their listings say.
func ReexecMain() {
	isolate.Main()
	builtin.Main()
}

// Isolation returns which kinds of isolation this machine supports. Plugins get them if the program calls [ReexecMain].
func Isolation() []isolate.Check { return isolate.Probe() }

// Logger is where the host logs.
func (h *Host) Logger() hclog.Logger { return h.log }

// Key is what package host asks of those who want its runtime. Nobody outside of this module can make one.
type Key struct{ _ bool }

// Config returns the configuration that sessions start with.
func (h *Host) Config() *config.Config { return h.config.Load() }

// Plugins describes every plugin found, with the reason for broken ones. It starts those that are not running.
func (h *Host) Plugins(ctx context.Context) []plugins.Listing { return h.plugins.List(ctx) }

// LockPlugins starts the named plugins, or all if none is named, and records their files in the lock file. With the
// setting plugins.integrity, only these files run from then on. It returns what was recorded.
func (h *Host) LockPlugins(ctx context.Context, names ...string) (map[string]plugins.Locked, error) {
	return h.plugins.Lock(ctx, names...)
}

// ResetPlugin takes a plugin that crashed too often out of quarantine. It reports whether the plugin was ever started.
func (h *Host) ResetPlugin(name string) bool { return h.plugins.Reset(name) }

// Opening is the session that is opened. The zero value is a new one with a random id.
type Opening struct {
	Key store.Key
	// Settings override the host's, by key ("compression.strategy"); values as in [Session.Set]. The registry of settings
	// says what owners other than the local user may set.
	Settings map[string]any
	// Existing opens only a session that is in the store; otherwise the error wraps [journal.ErrNoSession].
	Existing bool
	// Fork is another session, as which one begins that is not in the store; nil for none.
	Fork *journal.Fork
}

// Open opens a session; one that is in the store continues. The error wraps [journal.ErrSessionExists] if a session with
// the same id is open in this host.
func (h *Host) Open(o Opening) (*Session, error) {
	key, settings := o.Key, o.Settings
	if err := key.Check(); err != nil {
		return nil, err
	}
	lookup, stop := store.Within(context.Background())
	defer stop()
	by, err := h.setter(lookup, key.Owner)
	if err != nil {
		return nil, err
	}
	c, err := h.configOf(by, settings)
	if err != nil {
		return nil, err
	}
	if key.ID == "" {
		key.ID = rand.Text()
	}
	// Before the lock: it may read directories.
	if err := h.checkStrategy(c); err != nil {
		return nil, fmt.Errorf("open session %q: %w", key.ID, err)
	}
	s, err := newSession(h, key, by, settings, c)
	if err != nil {
		return nil, err
	}
	if err := h.enter(s); err != nil {
		return nil, err
	}
	begun := false
	defer func() {
		if !begun { // also after a panic: the id is free again
			s.end()
			h.forget(s)
		}
	}()
	ctx, cancel := store.Within(s.done)
	defer cancel()
	if err := s.begin(ctx, o); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	begun, s.begun = true, true
	return s, nil
}

// enter reserves a session's id before the session is read.
func (h *Host) enter(s *Session) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return fmt.Errorf("open session %q: host: %w", s.key.ID, journal.ErrClosed)
	}
	if _, exists := h.sessions[s.key]; exists {
		return fmt.Errorf("open session %q: %w", s.key.ID, journal.ErrSessionExists)
	}
	h.sessions[s.key] = s
	return nil
}

// Opened returns the open session of a key, nil if there is none.
func (h *Host) Opened(key store.Key) *Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.sessions[key]; s != nil && s.begun {
		return s
	}
	return nil
}

// OpenOf returns an owner's open sessions, in no order.
func (h *Host) OpenOf(owner string) (open []*Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for k, s := range h.sessions {
		if k.Owner == owner && s.begun {
			open = append(open, s)
		}
	}
	return open
}

func (h *Host) IsOpen(owner, id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[store.Key{Owner: owner, ID: id}] != nil
}

// checkStrategy returns an error if a strategy that was chosen, and not just the default, cannot be found.
func (h *Host) checkStrategy(c *config.Config) error {
	name := c.Settings().Compression.Strategy
	if c.Origin("compression.strategy").Layer != config.LayerDefault {
		if err := h.plugins.Check(name); err != nil {
			return err
		}
	}
	return h.CheckOwn(c, name)
}

// CheckStart is the check of each session for the configuration in force, and of what is set for other strategies. A
// plugin from a file that has settings of its own is started, because only its process knows which it has.
func (h *Host) CheckStart(ctx context.Context) error {
	c := h.Config()
	if err := h.checkStrategy(c); err != nil {
		return err
	}
	own, name := c.Settings().Strategies, c.Settings().Compression.Strategy
	if len(own[name]) > 0 && !h.plugins.BuiltIn(name) {
		// Other failures may pass: they are for the turns that meet them.
		if _, err := h.plugins.Strategy(ctx, name); errors.Is(err, plugins.ErrBadConfig) {
			return err
		}
	}
	return h.CheckOwn(c, slices.Sorted(maps.Keys(own))...)
}

// CheckOwn finds what is wrong with strategies' own settings without starting any: the name of no plugin, and what
// those do not declare that are built in or that this host has started.
func (h *Host) CheckOwn(c *config.Config, names ...string) error {
	var errs []error
	for _, name := range names {
		own := c.Settings().Strategies[name]
		if len(own) == 0 {
			continue
		}
		if err := h.plugins.Check(name); err != nil {
			key := "strategies." + name + "." + slices.Min(slices.Collect(maps.Keys(own)))
			errs = append(errs, fmt.Errorf("%s (%s): %w", key, c.Origin(key), err))
			continue
		}
		fields, known := builtin.Declared(name), h.plugins.BuiltIn(name)
		if !known {
			info := h.plugins.Info(name)
			fields, known = info.Config, info.Name != ""
		}
		if known {
			_, err := client.Own(name, fields, c.Strategy)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Strategies returns the sorted names of the strategies found. It starts no plugin.
func (h *Host) Strategies() []string { return h.plugins.Names() }

// CallsModel reports whether a strategy calls a model, as its plugin says, which is started for it. The error is why one
// that was never started here does not start.
func (h *Host) CallsModel(ctx context.Context, name string) (bool, error) {
	_, err := h.plugins.Strategy(ctx, name)
	info := h.plugins.Info(name)
	if err != nil && info.Name == "" {
		return false, err
	}
	return info.RequiresLLM, nil
}

// forget frees the id of a closed session.
func (h *Host) forget(s *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions[s.key] == s { // a later session may have the same id
		delete(h.sessions, s.key)
		h.keeper.Forget(s.Journal)
	}
}

// Close closes all sessions and stops all plugin processes; calls in progress fail. It returns shortly after two
// seconds at the latest. The error names each session whose transcript log could not be written,
// and how many entries it lacks; while the program runs, Close can be called again to write them.
func (h *Host) Close() error {
	h.mu.Lock()
	again := h.closed
	h.closed = true
	sessions := h.sessions
	h.sessions = map[store.Key]*Session{}
	h.mu.Unlock()
	if !again {
		close(h.done)
	}
	var errs []error
	byName := func(a, b store.Key) int { return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.ID, b.ID)) }
	for _, key := range slices.SortedFunc(maps.Keys(sessions), byName) {
		s := sessions[key]
		s.end()
		err := s.CloseLog()
		// Kept for another Close to write what is still missing.
		if err != nil {
			h.mu.Lock()
			h.sessions[key] = s
			h.mu.Unlock()
		}
		errs = append(errs, err)
	}
	if !again {
		h.background.Wait() // the sessions have ended, and it ends with them
		h.models.close()
		errs = append(errs, h.plugins.Close(), h.metrics.Close(), h.closeStore())
	}
	return errors.Join(errs...)
}
