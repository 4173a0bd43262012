package plugins

import (
	"cmp"
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
	o.QuietTime = cmp.Or(o.QuietTime, discover.DefaultQuietTime)
	d := config.Defaults().Plugins
	o.StartTimeout = cmp.Or(o.StartTimeout, d.StartTimeout)
	o.OptimizeTimeout = cmp.Or(o.OptimizeTimeout, d.OptimizeTimeout)
	o.CompressTimeout = cmp.Or(o.CompressTimeout, d.CompressTimeout)
	limits := client.DefaultLimits()
	o.StopTimeout = cmp.Or(o.StopTimeout, limits.StopTimeout)
	o.MaxAnswerBytes = cmp.Or(o.MaxAnswerBytes, limits.MaxAnswerBytes)
	o.MaxHostCalls = cmp.Or(o.MaxHostCalls, limits.MaxHostCalls)
	o.MirrorBytes = cmp.Or(o.MirrorBytes, d.MirrorBytes)
	o.MaxCrashes = cmp.Or(o.MaxCrashes, d.MaxCrashes)
	o.MaxMemoryBytes = cmp.Or(o.MaxMemoryBytes, d.MaxMemoryBytes)
	o.Integrity = cmp.Or(o.Integrity, d.Integrity)
	o.Isolation = cmp.Or(o.Isolation, d.Isolation)
	return o
}
