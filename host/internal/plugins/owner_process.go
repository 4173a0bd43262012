package plugins

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What the owner does about processes: it starts one, takes it over, and notes its end.

// startSoon starts a process once the delay after the last crash is over.
func (o *owner) startSoon(now time.Time) {
	if delay := o.crashes.next.Sub(now); delay > 0 {
		if o.wake == nil {
			o.wake = time.After(delay)
		}
		return
	}
	o.start()
}

// start starts a process. That takes time, and so does not happen here.
func (o *owner) start() {
	if o.starting || o.replacing || o.current != nil || o.closing {
		return
	}
	o.starting = true
	o.active++
	known := o.known
	go func() {
		p, err := o.m.start(o.s.name, start{known: known, reached: func(state State, b *binary) {
			o.s.commands <- func(o *owner) { // somebody listens: it is active
				if b != nil {
					o.binary = b
				}
				o.to(state, "")
			}
		}})
		o.s.commands <- func(o *owner) { o.started(p, err) }
	}()
}

// started takes the result of start.
func (o *owner) started(p *process, err error) {
	o.starting = false
	o.describe(p)
	defer o.lookOnceMore()
	if err != nil {
		o.active--
		o.failed(StateBroken, err)
		for _, answer := range o.waiting {
			answer <- lease{process: p, err: err}
		}
		o.waiting = nil
		return
	}
	o.install(p)
}

// install makes a process that has just come up the one that is used, unless it came too late for that.
func (o *owner) install(p *process) {
	o.known = p.snapshot()
	o.adopt(p)
	switch {
	case o.closing:
		p.end(ErrClosed)
	case o.drop && !o.kept && len(o.waiting) == 0:
		p.end(errNotNeeded)
	}
	o.drop = false
	o.serve()
}

// describe publishes what a process said that it is, if it came to that.
func (o *owner) describe(p *process) {
	if p != nil && p.info.Name != "" {
		o.s.publish(func(public *public) { public.info = p.info })
	}
}

// adopt makes p the process that takes the calls. One that took them so far does those that are under way.
func (o *owner) adopt(p *process) {
	if o.current != nil {
		o.current.retire(errReplaced)
	}
	o.current = p
	o.failure, o.quarantined = nil, false
	o.crashes.isReady(time.Now())
	p.tell = func(state State, reason string) {
		o.s.do(func(o *owner) {
			if o.current == p {
				o.to(state, reason)
			}
		})
	}
	o.to(StateReady, "")
	go func() {
		p.wait()
		o.s.commands <- func(o *owner) { o.ended(p) }
		p.destroy(p.opts.StopTimeout)
		o.s.commands <- func(o *owner) { o.left(p) }
	}()
}

// serve hands the current process to those who wait for it.
func (o *owner) serve() {
	for _, answer := range o.waiting {
		o.lend(answer)
	}
	o.waiting = nil
}

// ended notes that p takes no calls any more.
func (o *owner) ended(p *process) {
	if o.current != p {
		return
	}
	o.current = nil
	if why := context.Cause(p.ctx); errors.Is(why, ErrPluginCrashed) && !o.closing {
		failure := p.failure(OpStart, why, "")
		failure.Stderr = printableLines(p.child.stderr.String())
		failure.ours = p.binary.attached // who started it may end it
		o.failed(StateCrashed, failure)
	} else {
		o.to(StateDraining, "")
	}
	o.askAgain()
}

// askAgain has those who wait acquire anew, as what they waited for does not come.
func (o *owner) askAgain() {
	waiting := o.waiting
	o.waiting = nil
	for _, answer := range waiting {
		o.acquire(answer)
	}
}

// left notes that nothing of p is left.
func (o *owner) left(p *process) {
	defer close(p.gone)
	o.active--
	if state, _ := o.s.State(); state == StateDraining && o.current == nil && !o.starting {
		o.to(StateStopped, "")
	}
}

// failed notes that there is no process, and when there may be one again.
func (o *owner) failed(state State, err error) {
	if o.closing {
		o.to(StateStopped, "")
		return
	}
	o.failure = err
	reason := err.Error()
	var known *Error
	if errors.As(err, &known) {
		reason = known.Sentence()
	}
	if blamed(err) && o.crashes.add(time.Now(), jitter()) {
		o.quarantined = true
		state = StateQuarantined
		reason = fmt.Sprintf("%d crashes within %v, the last: %s", o.crashes.most, crashWindow, reason)
	}
	o.to(state, reason)
}

// blamed reports whether a failure is the plugin's, so that starting it again at once would be no use.
func blamed(err error) bool {
	var failure *Error
	crashed := errors.Is(err, ErrPluginCrashed) // even if another start may fare better
	return errors.As(err, &failure) && !failure.ours && (crashed || !failure.Retryable) && !errors.Is(err, ErrBadConfig) && !errors.Is(err, ErrNotGranted) && !errors.Is(err, ErrClosed)
}
