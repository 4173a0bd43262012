package supervise

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// A process that uses more than idleShare of a processor for the whole of idlePeriod without a call under way is
// replaced. A call's deadline bounds what is used in calls.
const (
	idlePeriod = 10 * time.Second
	idleShare  = 0.25
)

var errSpins = errors.New("it used processor time while no call was under way")

// usage is what an instance has done up to a moment.
type usage struct {
	at     time.Time
	cpu    time.Duration
	leases int64 // granted so far
	busy   bool  // a lease is held
	known  bool
}

func (i *instance) usage() usage {
	// First: a lease granted later shows in the next usage.
	u := usage{leases: i.leases.Load(), busy: i.users.Load() > 0, at: time.Now()}
	u.cpu, u.known = i.Process().CPU()
	return u
}

// spun returns the share of a processor used between two moments without a call under way; else 0.
func spun(before, after usage) float64 {
	if !before.known || !after.known || before.busy || after.busy || before.leases != after.leases {
		return 0
	}
	return float64(after.cpu-before.cpu) / float64(max(after.at.Sub(before.at), 1))
}

// watchIdle looks at a process once in a period until it ends, and has it replaced if it works without being asked to.
func (s *Strategy) watchIdle(p *instance) {
	period, most := cmp.Or(s.host.IdlePeriod, idlePeriod), cmp.Or(s.host.IdleShare, idleShare)
	tick := time.NewTicker(period)
	defer tick.Stop()
	for before := p.usage(); before.known; {
		select {
		case <-p.Ended():
			return
		case <-tick.C:
		}
		after := p.usage()
		if share := spun(before, after); share > most {
			s.do(func(o *owner) { o.spins(p, share, after.at.Sub(before.at)) })
			return
		}
		before = after
	}
}

// spins ends a process that uses the processor although no call is under way. The next call starts another.
func (o *owner) spins(p *instance, share float64, period time.Duration) {
	if o.current != p || o.closing {
		return
	}
	o.log.Warn("idle plugin uses the processor and is replaced at the next call", "pid", p.PID(),
		"share", fmt.Sprintf("%.0f %% of a core", 100*share), "for", period.Round(time.Second))
	o.giveUp(errSpins)
}
