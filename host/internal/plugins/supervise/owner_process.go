package supervise

import (
	"errors"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/outcome"
)

// Starting processes and waiting for them takes time, so it happens on other goroutines, which send their results back
// as commands.

func (o *owner) startSoon(now time.Time) {
	if delay := o.crashes.next.Sub(now); delay > 0 {
		if o.demand.wake == nil {
			o.demand.wake = time.After(delay)
		}
		return
	}
	o.start()
}

// start does nothing if a process exists or is being started. It takes up to plugins.startTimeout, on another
// goroutine.
func (o *owner) start() {
	if o.coming.starting || o.coming.replacing || o.current != nil || o.closing {
		return
	}
	o.coming.starting = true
	o.active++
	known := o.version.known
	go func() {
		p, err := o.s.launch(Start{Known: known, Reached: func(state outcome.PluginState, b *discover.Binary) {
			o.s.commands <- func(o *owner) { // the owner still runs: active is above 0
				if b != nil {
					o.version.binary = b
				}
				o.to(state, "")
			}
		}})
		o.s.commands <- func(o *owner) { o.started(p, err) }
	}()
}

// started processes the result of start. p may come with an error, for what the plugin reported before it failed.
func (o *owner) started(p *instance, err error) {
	o.coming.starting = false
	o.describe(p)
	defer o.lookOnceMore()
	if err != nil {
		o.active--
		o.failed(outcome.StateBroken, err)
		for _, answer := range o.demand.waiting {
			answer <- lease{instance: p, err: err}
		}
		o.demand.waiting = nil
		return
	}
	o.install(p)
}

// install makes a process that has just become ready the current one, unless it is no longer wanted.
func (o *owner) install(p *instance) {
	o.version.known = p.Snapshot()
	o.adopt(p)
	switch {
	case o.closing:
		p.End(fault.ErrClosed)
	case o.coming.drop && !o.demand.kept && len(o.demand.waiting) == 0:
		p.End(ErrNotNeeded)
	}
	o.coming.drop = false
	o.serve()
}

// describe publishes what a process reported about itself, if it got that far.
func (o *owner) describe(p *instance) {
	if p == nil {
		return
	}
	if info := p.Info(); info.Name != "" {
		o.s.publish(func(public *public) { public.info, public.lacking = info, p.Lacking() })
	}
}

// adopt makes p the process that takes the calls. Its predecessor finishes its running calls and ends. A goroutine
// waits for p's end; its two commands may arrive after the host has begun to close, so the owner runs until active is
// 0.
func (o *owner) adopt(p *instance) {
	if o.current != nil {
		o.current.retire(errReplaced)
	}
	o.current = p
	o.failure = nil
	o.crashes.isReady(time.Now())
	p.OnHealth(func(healthy bool, reason string) {
		o.s.do(func(o *owner) {
			if o.current != p {
				return
			}
			if healthy {
				o.to(outcome.StateReady, reason)
			} else {
				o.to(outcome.StateSuspect, reason)
			}
		})
	})
	o.to(outcome.StateReady, "")
	go o.s.watchIdle(p)
	go func() {
		why := p.Wait()
		o.s.commands <- func(o *owner) { o.ended(p, why) }
		p.Close(o.s.host.StopTimeout)
		o.s.commands <- func(o *owner) { o.left(p) }
	}()
}

func (o *owner) serve() {
	for _, answer := range o.demand.waiting {
		o.grant(answer)
	}
	o.demand.waiting = nil
}

func (o *owner) ended(p *instance, why error) {
	if o.current != p {
		return
	}
	o.current = nil
	if errors.Is(why, fault.ErrPluginCrashed) && !o.closing {
		o.failed(outcome.StateCrashed, p.Crash(why))
	} else {
		o.to(outcome.StateDraining, "")
	}
	o.askAgain()
}

// giveUp ends the current process when its calls are done. Calls that wait for the end of it to be noticed would wait
// for ever: when it is, the process is no longer the current one.
func (o *owner) giveUp(why error) {
	p := o.current
	o.current = nil
	o.to(outcome.StateDraining, why.Error())
	p.retire(why)
	o.askAgain()
}

// askAgain repeats the requests of those who wait, because their process will not appear. Each may start a new one, or
// be refused.
func (o *owner) askAgain() {
	waiting := o.demand.waiting
	o.demand.waiting = nil
	for _, answer := range waiting {
		o.acquire(answer)
	}
}

// left records that nothing of p remains, neither process nor directory.
func (o *owner) left(p *instance) {
	defer close(p.gone)
	o.active--
	if state, _ := o.s.State(); state == outcome.StateDraining && o.current == nil && !o.coming.starting {
		o.to(outcome.StateStopped, "")
	}
}

// failed records that there is no process, and decides when there may be one again.
func (o *owner) failed(state outcome.PluginState, err error) {
	if o.closing {
		o.to(outcome.StateStopped, "")
		return
	}
	o.failure = err
	if errors.Is(err, fault.ErrHost) {
		state = outcome.StateHostFault
	}
	reason := fault.Sentence(err)
	if failure, ok := errors.AsType[*fault.Error](err); ok && !failure.Blameless && o.crashes.add(time.Now(), jitter()) {
		state = outcome.StateQuarantined
		reason = fmt.Sprintf(
			"quarantined after %d crashes within %v; last crash: %s", o.crashes.most, crashWindow, reason,
		)
	}
	o.to(state, reason)
}

// ErrNotNeeded ends a process that was started only to ask what it is.
var ErrNotNeeded = errors.New("no longer needed")

// launch runs outside of the owner's goroutine and uses only immutable fields.
func (s *Strategy) launch(start Start) (*instance, error) {
	p, err := s.host.Start(s.name, start)
	if p == nil {
		return nil, err
	}
	return newInstance(p), err
}
