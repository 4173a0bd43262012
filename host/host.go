package host

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"

	"go.opentelemetry.io/otel/metric"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
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
	return &Host{h}, nil
}

func init() {
	window.Public = func(h *window.Host) any { return &Host{h} }
}

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

// ReexecMain lets the host start its own program again: as a strategy that ships, and on Linux as a launcher that
// isolates a plugin. Call it first in main: in such a process it does not return, otherwise it does nothing. Package
// early does a part of it sooner, which makes plugins start faster.
func ReexecMain() { window.ReexecMain() }

// Config returns the configuration that sessions start with.
func (h *Host) Config() *config.Config { return h.window.Config() }

// Reload makes c the configuration of sessions opened from now on, and looks for plugins again. If a setting of the
// whole host differs, nothing changes, and the error wraps [ErrFixed] and names it.
func (h *Host) Reload(c *config.Config) error { return h.window.Reload(c) }

// SessionOptions describe a session. The zero value is a session with a random id and the host's settings.
type SessionOptions struct {
	// Owner is whom the session belongs to, in a program that serves several; ids of different owners are separate. ""
	// is the user who runs the program. Others' sessions set only what an access token may: docs/configuration.md.
	Owner string
	// ID identifies the session in logs, errors and the name of its transcript, in at most 512 bytes without control
	// characters. "" is a random one.
	ID string
	// Existing opens only a stored session; otherwise the error wraps [ErrNoSession].
	Existing bool
	// Settings override the host's, by key ("compression.strategy"). Values are as in [Session.Set].
	Settings map[string]any
}

// Session opens a session. With the setting sessions.store, an earlier one continues where it was, with its settings,
// also after a crash. The error wraps [ErrSessionExists] if a session with the same id is open.
func (h *Host) Session(o SessionOptions) (*Session, error) {
	open := h.window.Session
	if o.Existing {
		open = h.window.Stored
	}
	s, err := open(store.Key{Owner: o.Owner, ID: o.ID}, o.Settings)
	if err != nil {
		return nil, err
	}
	return &Session{s}, nil
}

// Delete closes and deletes an owner's session. The error wraps [ErrNoSession] if there is none with this id.
func (h *Host) Delete(ctx context.Context, owner, id string) error {
	return h.window.Delete(ctx, owner, id)
}

// Plugins describes every plugin found, broken ones with the reason. It starts those that do not run.
func (h *Host) Plugins(ctx context.Context) []outcome.Plugin { return h.window.Plugins(ctx) }

// Strategies returns the names of the strategies found, sorted. It starts no plugin.
func (h *Host) Strategies() []string { return h.window.Strategies() }

// Count counts entries as a session with the host's settings would, in tokens each. Like [Session.Add] it takes 10 to
// 120 ms per megabyte, and ends with ctx.
func (h *Host) Count(ctx context.Context, entries ...content.Content) ([]int, error) {
	counted, err := h.window.Count(ctx, entries)
	if err != nil {
		return nil, err
	}
	each := make([]int, counted.Len())
	for i := range each {
		each[i] = counted.Tokens(i)
	}
	return each, nil
}

// LockPlugins starts the strategies' plugins, or all of them if none is named, and records in the lock file
// (plugins.lockFile) which files they are. It returns the names of those that were recorded, sorted.
func (h *Host) LockPlugins(ctx context.Context, strategies ...string) ([]string, error) {
	locked, err := h.window.LockPlugins(ctx, strategies...)
	return slices.Sorted(maps.Keys(locked)), err
}

// ResetPlugin takes a strategy's plugin out of quarantine, its state after too many crashes (plugins.maxCrashes). It
// reports whether the plugin was ever started.
func (h *Host) ResetPlugin(strategy string) bool { return h.window.ResetPlugin(strategy) }

// Close closes all sessions and stops all plugins, in just over two seconds. Calls in progress fail with [ErrClosed].
// The error names every session whose transcript could not be written, and how many entries it lacks; call Close again
// to write these.
func (h *Host) Close() error { return h.window.Close() }
