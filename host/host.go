package host

import (
	"context"
	"log/slog"
	"net/http"

	"go.opentelemetry.io/otel/metric"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// Options are what a host is made of. The zero value is the usual host.
type Options struct {
	// Config is the configuration to use, as [config.Load] returns it. Nil loads it from the user's file, Project and
	// the environment.
	Config *config.Config
	// Project is the directory whose thresh.yaml is read if Config is nil, such as "."; "" reads none.
	Project string
	// Logger receives the logs of the host and of the plugins. Nil logs to standard error, at the level of the
	// setting log.level.
	Logger *slog.Logger
	// Meter receives measurements (turns, tokens, plugins, cost of the model) with names that begin with "thresh.".
	// They never contain text of a conversation. Nil measures nothing.
	Meter metric.MeterProvider
	// Attach maps names of strategies to the sockets of plugin processes that were started by hand with --attach. It
	// is for debugging a plugin: such a process runs without isolation. Nil for none.
	Attach map[string]string
}

var (
	_ api.Host[*Session] = (*Host)(nil)
	_ api.Session        = (*Session)(nil)
)

// Host owns sessions and plugin processes. Close it: otherwise its plugins run as long as the program.
type Host struct{ window *window.Host }

// Open makes a host. It starts no process: a plugin is started when a session first needs it. The error is about the
// configuration.
func Open(o Options) (*Host, error) {
	if o.Config == nil {
		var err error
		o.Config, err = config.Load(config.Options{WorkDir: o.Project, NoProject: o.Project == ""})
		if err != nil {
			return nil, err
		}
	}
	options := window.Options{Config: o.Config, Meter: o.Meter, Attach: o.Attach, Keep: true}
	if o.Logger != nil {
		options.Logger = window.FromSlog(o.Logger)
	}
	h, err := window.Open(options)
	if err != nil {
		return nil, err
	}
	return Of(h), nil
}

// Of returns the host of a runtime. It is for the doors of this module: nobody else can make a runtime. Closing either
// closes both.
func Of(runtime *window.Host) *Host { return &Host{runtime} }

// Runtime is for packages of this module that do more with a host than it promises.
func (h *Host) Runtime(window.Key) *window.Host { return h.window }

// Check returns what is wrong with the host's configuration and shows only when it is used: an unknown strategy, a
// wrong setting of its own. It starts a plugin from a file, if the configuration has settings for it, until ctx ends.
// Each session that is opened is checked the same, without a start.
func (h *Host) Check(ctx context.Context) error { return h.window.CheckStart(ctx) }

// Guard is deferred by a program that calls methods for others: a panic becomes an error of [KindInternal], is logged
// with its stack, and is counted. The session can be opened again; with sessions.store it has everything acknowledged.
func (h *Host) Guard(method string, err *error) {
	switch p := recover(); p {
	case nil:
	case http.ErrAbortHandler: // how a handler gives up
		panic(p)
	default:
		*err = h.Panicked(method, p)
	}
}

// Panicked is what [Host.Guard] does with a recovered value. Call it in the deferred function that recovered.
func (h *Host) Panicked(method string, value any) error {
	return h.window.Panicked(method, value)
}

// Config returns the configuration that sessions start with.
func (h *Host) Config() *config.Config { return h.window.Config() }

// Reload makes c the configuration of sessions opened from now on, and looks for plugins again. If a setting of the
// whole host differs, nothing changes, and the error wraps [ErrFixed] and names it.
func (h *Host) Reload(c *config.Config) error { return h.window.Reload(c) }

// Close closes all sessions and stops all plugins, in just over two seconds. Calls in progress fail with [ErrClosed].
// The error names every session whose transcript could not be written, and how many entries it lacks; call Close again
// to write these.
func (h *Host) Close() error { return h.window.Close() }
