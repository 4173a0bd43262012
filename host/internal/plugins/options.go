package plugins

import (
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/client"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
)

// Options say where plugins are and what they may use. Zero values among the settings are the settings' defaults,
// except for Dirs, LockFile and Grants, which are none.
type Options struct {
	config.Plugins
	client.Limits

	// Logger receives what happens to plugins and what they log; nil drops it. Its level is passed on to the plugins.
	Logger hclog.Logger
	// HostVersion is told to plugins, for their logs.
	HostVersion string
	// RunDir is where the manager makes its private run directory; "" is the system's temporary directory. Its path
	// must be short, because sockets are made in it.
	RunDir string
	// QuietTime is how long the plugin directories must be unchanged before they are scanned again; 0 is
	// [discover.DefaultQuietTime].
	QuietTime time.Duration
	// BuiltIn are the strategies that the running program itself becomes under their names; see package builtin. Files
	// with the same names are used instead.
	BuiltIn []string
	// Attach are the sockets of strategies that a developer has started by hand, for debugging. They are used instead
	// of files, without any protection.
	Attach map[string]string
	// Settings looks up the strategies' own settings; nil: defaults.
	Settings client.Settings
	// NoMirrors makes every call send the whole history. Without it, a MirrorBytes of 0 is the default.
	NoMirrors bool
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	orDefault(&o.QuietTime, discover.DefaultQuietTime)
	d := config.Defaults().Plugins
	orDefault(&o.StartTimeout, d.StartTimeout)
	orDefault(&o.OptimizeTimeout, d.OptimizeTimeout)
	orDefault(&o.CompressTimeout, d.CompressTimeout)
	limits := client.DefaultLimits()
	orDefault(&o.StopTimeout, limits.StopTimeout)
	orDefault(&o.MaxAnswerBytes, limits.MaxAnswerBytes)
	orDefault(&o.MaxHostCalls, limits.MaxHostCalls)
	orDefault(&o.MirrorBytes, d.MirrorBytes)
	orDefault(&o.MaxCrashes, d.MaxCrashes)
	orDefault(&o.MaxMemoryBytes, d.MaxMemoryBytes)
	orDefault(&o.Integrity, d.Integrity)
	orDefault(&o.Isolation, d.Isolation)
	return o
}

func orDefault[T comparable](value *T, standard T) {
	var zero T
	if *value == zero {
		*value = standard
	}
}
