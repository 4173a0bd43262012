package client

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/sdk"
)

const (
	// crashTime bounds the wait, after a connection broke, for the process to be reaped and its output to be read.
	crashTime    = 500 * time.Millisecond
	probeTimeout = 2 * time.Second
	// maxMisses is how many calls in a row a plugin may let time out although it answers probes.
	maxMisses = 3
)

// Limits are what no setting changes: the same for every plugin on every machine. Zero is the default.
type Limits struct {
	// StopTimeout is how long a plugin may take to exit before it is killed.
	StopTimeout time.Duration
	// MaxAnswerBytes bounds one answer, MaxHostCalls the requests to the host during one Compress.
	MaxAnswerBytes, MaxHostCalls int
}

// DefaultLimits are the limits in force unless a test sets others.
func DefaultLimits() Limits {
	return Limits{StopTimeout: 2 * time.Second, MaxAnswerBytes: 64 << 20, MaxHostCalls: 10_000}
}

type Options struct {
	config.Plugins
	Limits
	HostVersion string
	// Logger's level is passed on to the plugins.
	Logger hclog.Logger
	// Settings looks up the strategies' own settings; nil: defaults.
	Settings Settings
	// NoMirrors makes every call send the whole history.
	NoMirrors bool
	// Spawn runs f in a goroutine that the host waits for when it closes; it returns false if the host is closed.
	Spawn func(f func()) bool
}

// Plugin is one running, described and configured process. It is safe for concurrent use.
type Plugin struct {
	opts     Options
	binary   *discover.Binary
	sandbox  process.Sandbox
	proc     *process.Process // nil: it did not start
	log      hclog.Logger
	reported reported
	config   sdk.Config // with defaults filled in
	remote   remote
	calls    calls
	sessions sessions
	traffic  traffic
	life     life
	health   func(healthy bool, reason string) // set by OnHealth
	use      func()                            // set by OnFirstUse; nil: nothing to do
}

type reported struct {
	info   sdk.Info
	record json.RawMessage // info as [trust.Record] writes it; nil: not accepted
	delta  bool            // it mirrors histories (Features.history_delta)
}

type calls struct {
	last   atomic.Uint64 // from 1
	misses atomic.Int64  // in a row that timed out
}

// life ends with the process or by [Plugin.End]. The context's cause is the reason.
type life struct {
	ctx context.Context
	end context.CancelCauseFunc
}

// Info returns what the plugin reports about itself, as a copy. Its Name is "" if the plugin did not get that far.
func (p *Plugin) Info() sdk.Info { return Clone(p.reported.info) }

func (p *Plugin) Binary() *discover.Binary { return p.binary }

func (p *Plugin) Isolation() []isolate.Measure { return p.sandbox.Apply }

// Lacking returns the isolation measures that the process runs without, each with the reason.
func (p *Plugin) Lacking() []string { return p.sandbox.Lacking }

// PID returns 0 for an attached process, which the host did not start and never kills.
func (p *Plugin) PID() int { return p.proc.PID() }

// Process returns nil if the plugin did not start.
func (p *Plugin) Process() *process.Process { return p.proc }

func (p *Plugin) Snapshot() trust.Snapshot {
	return trust.Snapshot{Sum: p.binary.Sum, Info: p.reported.record}
}

// Entry returns the plugin's entry in the lock file. ok is false if the plugin did not report what it is.
func (p *Plugin) Entry() (e trust.Entry, ok bool) {
	return trust.NewEntry(p.binary.Path, p.binary.Sum, p.reported.record), p.reported.record != nil
}

// Alive reports whether the plugin can be called. The answer may be outdated at once; a call then fails with the
// reason.
func (p *Plugin) Alive() bool { return p.life.ctx.Err() == nil && !p.proc.Gone(0) }

// OnHealth sets the function that is called when a call timed out and the plugin is being probed (healthy is false),
// and when the probe was answered. It runs on the probe's goroutine. Set it before the first call.
func (p *Plugin) OnHealth(f func(healthy bool, reason string)) { p.health = f }

// OnFirstUse makes [Plugin.Use] call f, once. Call it before anyone else has the plugin.
func (p *Plugin) OnFirstUse(f func()) { p.use = sync.OnceFunc(f) }

// Use records that a session uses the plugin; listing does not.
func (p *Plugin) Use() {
	if p.use != nil {
		p.use()
	}
}

// End makes running and later calls fail with why, and [Plugin.Wait] return. Only the first reason counts. The process
// lives on until Close.
func (p *Plugin) End(why error) { p.life.end(why) }

// Ended is closed when the process takes no more calls: Wait noticed its end, or End was called.
func (p *Plugin) Ended() <-chan struct{} { return p.life.ctx.Done() }

func (p *Plugin) Wait() error {
	select {
	case <-p.proc.Exited():
		p.End(p.crashed())
	case <-p.life.ctx.Done():
	}
	return context.Cause(p.life.ctx)
}

// Close ends the process in bounded time: SIGTERM, then SIGKILL after grace. Running calls fail.
func (p *Plugin) Close(grace time.Duration) {
	p.remote.stop()
	p.proc.Close(grace)
}

// kill ends a process that takes more of the host than any plugin needs. What it still sends is not read.
func (p *Plugin) kill(why error) {
	p.End(fmt.Errorf("%w: it was killed: %w", fault.ErrPluginCrashed, why))
	p.remote.stop()
	if p.PID() != 0 { // an attached process is not the host's to kill
		_ = p.proc.Kill() // Close reports what cannot be killed
	}
}

func (p *Plugin) Failure(op fault.Op, err error, hint string) *fault.Error {
	return p.binary.Failure(op, err, hint)
}

// Crash returns the error for a process that ended by itself, with the end of its standard error.
func (p *Plugin) Crash(why error) *fault.Error {
	failure := p.Failure(fault.OpStart, why, p.proc.Refused())
	failure.Stderr = p.proc.Stderr()
	return failure
}

func (p *Plugin) crashed() error {
	if p.proc.KilledByOthers() {
		return fmt.Errorf(
			"%w: %s: killed (SIGKILL), possibly by the OOM killer", fault.ErrPluginCrashed, p.proc.ExitState(),
		)
	}
	return fmt.Errorf("%w: %s", fault.ErrPluginCrashed, p.proc.ExitState())
}

// lostConnection reports whether the plugin cannot be reached any more, and ends it then. A killed process loses its
// connection first; on a busy machine it may be a while before it is gone. ctx is the caller's.
func (p *Plugin) lostConnection(ctx context.Context) bool {
	why := p.unreachable(ctx)
	if why != nil {
		p.End(why)
	}
	return why != nil
}

// vanished reports whether a plugin that was unavailable to a call has ended, and ends it if it cannot be reached. It
// may have said so itself, because a service failed it: then it answers, and nobody has to wait for the end of its
// process.
func (p *Plugin) vanished(ctx context.Context) bool {
	why := p.unreachable(ctx)
	if why != nil && !p.proc.Gone(crashTime) {
		p.End(why)
	}
	return why != nil
}

// unreachable returns why the plugin is to be ended: it does not answer GetInfo within probeTimeout. It returns nil if
// ctx ended first.
func (p *Plugin) unreachable(ctx context.Context) error {
	timed, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	_, err := p.remote.getInfo(timed, p.opts.HostVersion)
	switch {
	case err == nil, ctx.Err() != nil:
		return nil
	case lost(err):
		return fmt.Errorf("%w: its connection broke", fault.ErrPluginCrashed)
	case timed.Err() != nil:
		return fmt.Errorf("%w: it stopped answering and was killed", fault.ErrPluginCrashed)
	}
	return fmt.Errorf("%w: it was killed, as it cannot say what it is: %s", fault.ErrPluginCrashed, message(err))
}

// probe ends the plugin if it cannot be reached: after a timed out call it may be busy, which is allowed, or hang. A
// plugin that answers but lets maxMisses calls in a row time out is ended as well.
func (p *Plugin) probe() {
	p.health(false, "a call timed out")
	why := p.unreachable(p.life.ctx)
	if why == nil && p.calls.misses.Load() >= maxMisses {
		why = fmt.Errorf("%w: %d calls in a row timed out and it was killed", fault.ErrPluginCrashed, maxMisses)
	}
	switch {
	case p.life.ctx.Err() != nil:
	case why != nil:
		p.End(why)
	default:
		p.health(true, "")
	}
}

// Clone returns a deep copy of info.
func Clone(info sdk.Info) sdk.Info {
	info.Config = slices.Clone(info.Config)
	for i := range info.Config {
		info.Config[i].Allowed = slices.Clone(info.Config[i].Allowed)
	}
	return info
}
