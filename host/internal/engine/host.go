package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/otel/metric"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/metrics"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// Errors of a host and its sessions, for errors.Is.
var (
	ErrClosed        = errors.New("it is closed")
	ErrSessionExists = errors.New("a session with this id is open")
	ErrInvalidEntry  = errors.New("not a valid history entry")
	ErrFixed         = errors.New("cannot be changed")
	ErrBadSetting    = errors.New("the setting cannot be used")
)

// Options say where a host gets its configuration from. The zero value is the usual: the user's file, thresh.yaml in the
// working directory, the environment.
type Options struct {
	// Config chooses files, profile, environment and overrides.
	Config config.Options
	// Logger gets the host's and the plugins' logs. Nil: standard error, at the level of the setting log.level.
	Logger hclog.Logger
	// Meter gets measurements: package metrics lists them. They hold no text of a conversation. Nil: nothing is measured.
	Meter metric.MeterProvider
	// Attach are strategies whose processes somebody has started by hand (--attach), with their sockets: for debugging. It is
	// no setting, as no file is to decide it.
	Attach map[string]string
}

// Host owns sessions and plugin processes. Close it, or its processes live as long as the program.
type Host struct {
	config  *config.Config
	logger  hclog.Logger
	plugins *plugins.Manager
	models  models
	prices  func() (*pricing.Catalog, error) // read when they are first asked for

	calibrations calibrations

	metrics *metrics.Recorder // nil without a meter

	mu       sync.Mutex
	sessions map[string]*Session
	closed   bool
}

// Open reads the configuration and makes a host. No process is started before one is needed.
func Open(o Options) (*Host, error) {
	c, err := config.Load(o.Config)
	if err != nil {
		return nil, err
	}
	set := c.Settings()
	prices := sync.OnceValues(func() (*pricing.Catalog, error) {
		c, err := pricing.Load(set.Model.PriceFile)
		if err != nil {
			return nil, fmt.Errorf("model.priceFile: %w", err)
		}
		return c, nil
	})
	if set.Model.PriceFile != "" {
		if _, err := prices(); err != nil {
			return nil, err
		}
	}
	if _, err := priceList(prices, set); err != nil {
		return nil, err
	}
	logger := o.Logger
	if logger == nil {
		logger = hclog.New(&hclog.LoggerOptions{Name: "thresh", Level: hclog.LevelFromString(set.Log.Level)})
	}
	executable, _ := os.Executable() // a system that cannot tell has no plugins that came with the host
	manager := plugins.New(plugins.Options{
		Plugins: set.Plugins, Logger: logger, HostVersion: Version(), Executable: executable, Settings: c.Strategy, Attach: o.Attach,
	})
	h := &Host{config: c, logger: logger, plugins: manager, prices: prices, sessions: map[string]*Session{}}
	h.metrics, err = metrics.New(o.Meter, metrics.Sources{Version: Version(), Sessions: h.open, Plugins: manager.States})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the host: %w", err), manager.Close())
	}
	return h, nil
}

// open is how many sessions are open.
func (h *Host) open() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// ReexecMain lets plugins be isolated (Linux): to do that, the host starts its own program once more, as a launcher. Call it
// first in main; in a launcher it does not return. A program that does not call it runs plugins without isolation, and
// their listings say so.
func ReexecMain() { isolate.Main() }

// Isolation says what this machine can keep plugins from, if the program calls [ReexecMain].
func Isolation() []isolate.Check { return isolate.Probe() }

// Config is the configuration that sessions begin with.
func (h *Host) Config() *config.Config { return h.config }

// Plugins describes every plugin that was found, the broken ones with the reason. It starts those that are not running.
func (h *Host) Plugins(ctx context.Context) []plugins.Listing { return h.plugins.List(ctx) }

// LockPlugins starts the plugins with these names, all of them if there are none, and writes down in the lock file what they
// are: with the setting plugins.integrity they must be that from then on. It returns what was locked.
func (h *Host) LockPlugins(ctx context.Context, names ...string) (map[string]plugins.Locked, error) {
	return h.plugins.Lock(ctx, names...)
}

// ResetPlugin takes a plugin that crashed too often out of quarantine. It reports whether the plugin was ever started.
func (h *Host) ResetPlugin(name string) bool { return h.plugins.Reset(name) }

// SessionOptions describe a session. The zero value is a session with a random id and the host's settings.
type SessionOptions struct {
	ID string
	// Settings override the host's, by key ("compression.strategy"); values as in [Session.Set].
	Settings map[string]any
}

// Session begins a conversation.
func (h *Host) Session(o SessionOptions) (*Session, error) {
	c, err := overrides(h.config, o.Settings)
	if err != nil {
		return nil, err
	}
	if o.ID == "" {
		o.ID = rand.Text()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, fmt.Errorf("open session %q: host: %w", o.ID, ErrClosed)
	}
	if _, exists := h.sessions[o.ID]; exists {
		return nil, fmt.Errorf("open session %q: %w", o.ID, ErrSessionExists)
	}
	s, err := newSession(h, o.ID, c)
	if err != nil {
		return nil, err
	}
	h.sessions[o.ID] = s
	return s, nil
}

func (h *Host) forget(s *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions[s.id] == s { // another may have the id by now
		delete(h.sessions, s.id)
	}
}

// Close ends all sessions and all plugin processes. Calls that are under way fail. It takes no longer than the setting
// plugins.stopTimeout and a moment.
func (h *Host) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	sessions := h.sessions
	h.sessions = map[string]*Session{}
	h.mu.Unlock()
	var errs []error
	for _, s := range sessions {
		s.end()
		errs = append(errs, s.journal.Close())
	}
	h.models.close()
	return errors.Join(append(errs, h.plugins.Close(), h.metrics.Close())...)
}

// Version is the version of this module as the build knows it, "(devel)" for a build from a checkout.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	const module = "github.com/thresh-dev/thresh"
	if info.Main.Path == module && info.Main.Version != "" {
		return info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return "(devel)"
}
