package plugins

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
)

// patience is how long a call waits for the delay after a crash to pass. Where more is left of it, the call fails at once.
const patience = 2 * time.Second

// owner is the state machine of one strategy. Its methods run in the one goroutine that it has; none of them waits.
type owner struct {
	s   *Strategy
	m   *Manager
	log hclog.Logger

	current  *process // takes the calls; nil: there is none
	starting bool     // a process is on its way
	// replacing says that a new version is on its way, lookAgain that the file changed while one was.
	replacing, lookAgain bool
	active               int  // starts and processes of which something is left
	kept                 bool // somebody means to call the strategy
	drop                 bool // the process that is on its way is to end unless it is kept
	waiting              []chan lease
	wake                 <-chan time.Time // when the delay after a crash is over and somebody waits

	crashes     crashes
	failure     error // why there was no process the last time
	quarantined bool
	binary      *binary // the file of the last start; nil: it did not come to that
	known       snapshot
	closing     bool
}

func newOwner(s *Strategy) *owner {
	return &owner{
		s: s, m: s.manager, crashes: crashes{most: s.manager.opts.MaxCrashes},
		log: s.manager.opts.Logger.Named("plugin").With("strategy", s.name),
	}
}

// run is the owner's goroutine. It ends when the manager is closed and nothing of any process is left.
func (o *owner) run() {
	defer close(o.s.ended)
	closed := o.m.ctx.Done()
	for !o.closing || o.active > 0 {
		select {
		case f := <-o.s.commands:
			f(o)
		case <-o.wake:
			o.wake = nil
			o.start()
		case <-closed:
			closed = nil
			o.close()
		}
	}
}

// to moves to another state, and says so.
func (o *owner) to(state State, reason string) {
	var before State
	o.s.publish(func(p *public) {
		before = p.state
		p.state, p.reason = state, reason
	})
	level := hclog.Debug
	switch state {
	case StateSuspect, StateBroken:
		level = hclog.Warn
	case StateCrashed, StateQuarantined:
		level = hclog.Error
	}
	args := []any{"from", before, "to", state}
	if reason != "" {
		args = append(args, "reason", reason)
	}
	o.log.Log(level, "the plugin's state changed", args...)
}

// acquire sees to it that answer gets a process, or the reason why there is none.
func (o *owner) acquire(answer chan lease) {
	now := time.Now()
	switch {
	case o.closing:
		answer <- lease{err: ErrClosed}
	case o.current != nil && o.current.alive():
		o.lend(answer)
	case o.current != nil, o.starting, o.replacing: // the end of a dead one is about to be noticed, or another is on its way
		o.waiting = append(o.waiting, answer)
	case o.quarantined && !o.binary.differs():
		answer <- lease{err: o.refusal(fmt.Errorf("%w: %d crashes within %v, the last: %w", ErrQuarantined, o.crashes.most, crashWindow, cause(o.failure)),
			"replace the file, or reset the plugin when the cause is removed", false)}
	case o.crashes.next.Sub(now) > patience && !o.binary.differs():
		answer <- lease{err: o.refusal(fmt.Errorf("%w (it is started again in %v at the earliest)", cause(o.failure), o.crashes.next.Sub(now).Round(time.Second)), "", true)}
	default:
		if o.quarantined || o.crashes.next.After(now) && o.binary.differs() {
			o.forgive("the file has changed")
		}
		o.waiting = append(o.waiting, answer)
		o.startSoon(now)
	}
}

// lend hands out the current process.
func (o *owner) lend(answer chan lease) {
	o.current.users.Add(1)
	answer <- lease{process: o.current}
}

// abandon takes back what is nobody's any more.
func (o *owner) abandon(answer chan lease) {
	if i := slices.Index(o.waiting, answer); i >= 0 {
		o.waiting = slices.Delete(o.waiting, i, i+1)
		return
	}
	select {
	case l := <-answer:
		if l.err == nil {
			l.process.release()
		}
	default:
	}
}

// forgive lets the plugin begin anew.
func (o *owner) forgive(why string) {
	o.crashes.forget()
	o.quarantined, o.wake = false, nil
	if o.failure != nil {
		o.failure = nil
		o.to(StateDiscovered, why)
	}
	if len(o.waiting) > 0 {
		o.start() // they waited for the delay, of which nothing is left
	}
}

// dropUnlessKept ends the process if nobody means to call the strategy, and reports whether it does so.
func (o *owner) dropUnlessKept() bool {
	if o.kept {
		return false
	}
	o.drop = o.starting || o.replacing
	if o.current != nil {
		o.current.end(errNotNeeded)
	}
	return true
}

// close ends what there is.
func (o *owner) close() {
	o.closing = true
	o.wake = nil
	if o.current != nil {
		o.current.end(ErrClosed)
	}
	if !o.starting { // otherwise the start ends with the manager and answers them
		for _, answer := range o.waiting {
			answer <- lease{err: ErrClosed}
		}
		o.waiting = nil
	}
}

// refusal is the error for a call while there is no process and none may be started.
func (o *owner) refusal(err error, hint string, retryable bool) error {
	refused := &Error{Plugin: o.s.name, Op: OpStart, Err: err, Hint: hint, Retryable: retryable}
	var known *Error
	if errors.As(o.failure, &known) {
		refused.Path, refused.Stderr = known.Path, known.Stderr
	}
	return refused
}

// cause is what is inside of an [*Error], which would otherwise name the plugin twice.
func cause(err error) error {
	var known *Error
	if errors.As(err, &known) {
		return known.Err
	}
	return err
}
