package plugins

import (
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
)

// The defaults of [Options].
const (
	DefaultStartTimeout    = 10 * time.Second
	DefaultOptimizeTimeout = 30 * time.Second
	DefaultCompressTimeout = 10 * time.Minute
	DefaultStopTimeout     = 2 * time.Second
	DefaultQuietTime       = discover.DefaultQuietTime
	DefaultMaxAnswerBytes  = 64 << 20
	DefaultMaxJSONDepth    = 1000
	DefaultMaxHostCalls    = 10_000
	DefaultMaxCrashes      = 5
	DefaultMaxMemoryBytes  = 2 << 30
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
	// QuietTime is how long nothing may have happened in the plugin directories before they are looked at again.
	QuietTime time.Duration
	// MaxAnswerBytes bounds the edits or pieces of one answer, in bytes.
	MaxAnswerBytes int
	// MaxJSONDepth bounds how deep JSON in an answer is nested.
	MaxJSONDepth int
	// MaxHostCalls bounds how often a plugin may ask the host during one Compress.
	MaxHostCalls int
	// MaxCrashes is how many crashes within five minutes put a plugin into quarantine.
	MaxCrashes int

	// Integrity says which files may be run; "" is [IntegrityTOFU].
	Integrity string
	// LockFile is where the manager remembers what plugins were; "": only for as long as it lives.
	LockFile string
	// Executable is the path of the host's own executable; plugins in the folder plugins beside it are trusted like it. "":
	// there are none such.
	Executable string

	// Isolation says what plugins are kept from; "" is [IsolationBestEffort]. It needs a program that calls
	// [isolate.Main].
	Isolation string
	// MaxMemoryBytes bounds the private memory of one process, where it is isolated; see [isolate.Memory].
	MaxMemoryBytes int
	// Grants are what plugins get beyond the usual, by name.
	Grants map[string]config.Grant

	// Attach are strategies whose processes somebody has started by hand, with their sockets, for debugging. They are used
	// instead of files, without any protection.
	Attach map[string]string

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
		{&o.QuietTime, DefaultQuietTime},
	} {
		if *d.value <= 0 {
			*d.value = d.standard
		}
	}
	if o.Isolation == "" {
		o.Isolation = IsolationBestEffort
	}
	if o.Integrity == "" {
		o.Integrity = IntegrityTOFU
	}
	for _, n := range []struct {
		value    *int
		standard int
	}{
		{&o.MaxAnswerBytes, DefaultMaxAnswerBytes},
		{&o.MaxJSONDepth, DefaultMaxJSONDepth},
		{&o.MaxHostCalls, DefaultMaxHostCalls},
		{&o.MaxCrashes, DefaultMaxCrashes},
		{&o.MaxMemoryBytes, DefaultMaxMemoryBytes},
	} {
		if *n.value <= 0 {
			*n.value = n.standard
		}
	}
	return o
}
