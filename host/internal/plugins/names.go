package plugins

import (
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/supervise"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/host/outcome"
)

type (
	// Strategy runs in its own process, one for all sessions.
	Strategy = supervise.Strategy
	// State says where a plugin is in its life, and in a [Listing] what a file is good for.
	State = outcome.PluginState
	// Error says what failed, on which plugin, and what to do about it.
	Error = fault.Error
	// Op names what was being done with a plugin when it failed.
	Op = fault.Op
	// Locked is one plugin in the lock file.
	Locked = trust.Entry
)

// In the order in which a process goes through them.
const (
	OpStart     = fault.OpStart
	OpConfigure = fault.OpConfigure
	OpOptimize  = fault.OpOptimize
	OpCompress  = fault.OpCompress
)

// The errors that an [*Error] wraps; see package fault for what each means.
var (
	ErrUnknownStrategy = fault.ErrUnknownStrategy
	ErrClosed          = fault.ErrClosed
	ErrNotPlugin       = fault.ErrNotPlugin
	ErrIncompatible    = fault.ErrIncompatible
	ErrBadInfo         = fault.ErrBadInfo
	ErrBadConfig       = fault.ErrBadConfig
	ErrPluginCrashed   = fault.ErrPluginCrashed
	ErrTimeout         = fault.ErrTimeout
	ErrBadAnswer       = fault.ErrBadAnswer
	ErrInfoChanged     = fault.ErrInfoChanged
	ErrQuarantined     = fault.ErrQuarantined
	ErrUntrusted       = fault.ErrUntrusted
	ErrNotGranted      = fault.ErrNotGranted
	ErrNotIsolated     = fault.ErrNotIsolated
	ErrHost            = fault.ErrHost
	ErrStrategy        = fault.ErrStrategy
	ErrNoLockFile      = trust.ErrNoLockFile
)

// See [State].
const (
	StateReady       = outcome.StateReady
	StateCrashed     = outcome.StateCrashed
	StateQuarantined = outcome.StateQuarantined
	StateStopped     = outcome.StateStopped
	StateBroken      = outcome.StateBroken
	StateHostFault   = outcome.StateHostFault
	StateUntrusted   = outcome.StateUntrusted
	StateShadowed    = outcome.StateShadowed
	StateNoDirectory = outcome.StateNoDirectory
)

const FilePrefix = discover.FilePrefix
