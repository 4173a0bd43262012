package supervise

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/host/outcome"
)

// maxRestartWait is how long a call waits for the delay after a crash to pass. If more is left, the call fails at once
// with the time of the next start: an agent can then decide to continue without the strategy.
const maxRestartWait = 2 * time.Second

// owner is the state machine of one strategy. Its methods run on its one goroutine, so it needs no lock. None may
// block: that would block every session that uses the strategy.
type owner struct {
	s   *Strategy
	log hclog.Logger

	current *instance // takes the calls; nil: there is none
	coming  coming
	demand  demand
	crashes crashes
	failure error // why there was no process the last time
	version version
	active  int // starts and processes of which something is left
	closing bool
}

// coming describes the start in progress. At most one runs at a time.
type coming struct {
	starting  bool // the first process, or one after a crash
	replacing bool // a new version, next to the current process
	lookAgain bool // the file changed meanwhile
	retry     bool // the host's environment kept a new version from starting: try again at the next call
	drop      bool // end the process when it is ready, unless it is needed then
}

type demand struct {
	kept    bool // a session means to call the strategy, so its process is kept
	waiting []chan lease
	wake    <-chan time.Time // when the delay after a crash is over and calls wait
}

type version struct {
	binary *discover.Binary // of the last start; nil: no start got that far
	known  trust.Snapshot   // what the last process that became ready reported
}

func newOwner(s *Strategy) *owner {
	return &owner{
		s: s, crashes: crashes{most: s.host.MaxCrashes}, log: s.host.Log.With("strategy", s.name),
	}
}

// run ends when the host is closed and nothing of any process is left.
func (o *owner) run() {
	defer close(o.s.ended)
	closed := o.s.host.Ctx.Done()
	for !o.closing || o.active > 0 {
		select {
		case f := <-o.s.commands:
			f(o)
		case <-o.demand.wake:
			o.demand.wake = nil
			o.start()
		case <-closed:
			closed = nil
			o.close()
		}
		o.offer()
	}
}

// offer lets calls take the current process without asking the owner, as long as only a lease would follow.
func (o *owner) offer() {
	i := o.current
	if !o.demand.kept || o.coming.retry || o.closing {
		i = nil
	}
	o.s.offered.Store(i)
}

// to enters another state and logs the change, at a level that fits the state.
func (o *owner) to(state outcome.PluginState, reason string) {
	var before outcome.PluginState
	o.s.publish(func(p *public) {
		before = p.state
		p.state, p.reason = state, reason
	})
	level := hclog.Debug
	switch state {
	case outcome.StateSuspect, outcome.StateBroken, outcome.StateHostFault:
		level = hclog.Warn
	case outcome.StateCrashed, outcome.StateQuarantined:
		level = hclog.Error
	}
	args := []any{"from", before, "to", state}
	if reason != "" {
		args = append(args, "reason", reason)
	}
	o.log.Log(level, "plugin state changed", args...)
}

// acquire answers with a process, or the reason why there is none, now or later. answer must have room for one value,
// so sending never blocks. A changed file ends a quarantine and a delay: a new version starts with a clean record.
func (o *owner) acquire(answer chan lease) {
	now := time.Now()
	switch {
	case o.closing:
		answer <- lease{err: fault.ErrClosed}
	case o.current != nil && o.current.Alive():
		o.grant(answer)
		if o.coming.retry {
			o.coming.retry = false
			o.s.host.Rescan()
		}
	case o.current != nil,
		o.coming.starting,
		o.coming.replacing: // it is dead and that is about to be noticed, or one is being started
		o.demand.waiting = append(o.demand.waiting, answer)
	case o.crashes.quarantined && !o.version.binary.Differs():
		err := fmt.Errorf(
			"%w after %d crashes within %v; last crash: %w", fault.ErrQuarantined, o.crashes.most, crashWindow,
			fault.Cause(o.failure),
		)
		answer <- lease{err: o.refusal(err, "replace the file, or reset the plugin when the cause is removed", false)}
	case o.crashes.next.Sub(now) > maxRestartWait && !o.version.binary.Differs():
		err := fmt.Errorf(
			"%w; next start in %v at the earliest", fault.Cause(o.failure),
			o.crashes.next.Sub(now).Round(time.Second),
		)
		answer <- lease{err: o.refusal(err, "", true)}
	default:
		if o.crashes.quarantined || o.crashes.next.After(now) && o.version.binary.Differs() {
			o.clearCrashes("the file has changed")
		}
		o.demand.waiting = append(o.demand.waiting, answer)
		o.startSoon(now)
	}
}

// grant counts the user before the answer is sent: the process could otherwise be retired in between.
func (o *owner) grant(answer chan lease) {
	o.current.hold()
	answer <- lease{instance: o.current}
}

// abandon cancels a request whose caller's context has ended. If it was answered meanwhile, the lease in the channel is
// released, or the process would never end.
func (o *owner) abandon(answer chan lease) {
	if i := slices.Index(o.demand.waiting, answer); i >= 0 {
		o.demand.waiting = slices.Delete(o.demand.waiting, i, i+1)
		return
	}
	select {
	case l := <-answer:
		if l.err == nil {
			l.instance.release()
		}
	default:
	}
}

func (o *owner) clearCrashes(why string) {
	o.crashes.forget()
	o.demand.wake = nil
	if o.failure != nil {
		o.failure = nil
		o.to(outcome.StateDiscovered, why)
	}
	if len(o.demand.waiting) > 0 {
		o.start() // the delay that they waited for is over
	}
}

// dropUnlessKept ends the process unless a session intends to call the strategy. It reports whether the process ends.
func (o *owner) dropUnlessKept() bool {
	if o.demand.kept {
		return false
	}
	o.coming.drop = o.coming.starting || o.coming.replacing
	if o.current != nil {
		o.current.End(ErrNotNeeded)
	}
	return true
}

func (o *owner) close() {
	o.closing = true
	o.demand.wake = nil
	if o.current != nil {
		o.current.End(fault.ErrClosed)
	}
	if !o.coming.starting { // otherwise the start ends with the host and answers them
		for _, answer := range o.demand.waiting {
			answer <- lease{err: fault.ErrClosed}
		}
		o.demand.waiting = nil
	}
}

// refusal returns the error for a call while there is no process and none may be started, with path and standard error
// of the last failure.
func (o *owner) refusal(err error, hint string, retryable bool) error {
	refused := &fault.Error{Plugin: o.s.name, Op: fault.OpStart, Err: err, Hint: hint, Retryable: retryable}
	if known, ok := errors.AsType[*fault.Error](o.failure); ok {
		refused.Path, refused.Stderr = known.Path, known.Stderr
	}
	return refused
}
