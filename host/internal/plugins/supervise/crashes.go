package supervise

import (
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// firstDelay is the shortest time between a crash and the next start; each crash in a row doubles it, up to
	// maxDelay.
	firstDelay = 250 * time.Millisecond
	maxDelay   = time.Minute
	// calmTime is how long a process must have been ready for the next crash to count as the first again.
	calmTime = 5 * time.Minute
	// crashWindow is the time within which [Host.MaxCrashes] crashes are too many.
	crashWindow = 5 * time.Minute
)

// crashes counts a plugin's crashes and decides what follows: a delay that doubles with each, and quarantine after too
// many. The clock and the jitter are arguments, so that tests need no waiting. It belongs to the owner's goroutine.
type crashes struct {
	most  int         // so many within crashWindow are too many
	times []time.Time // those of the crashes within crashWindow, oldest first
	row   int         // how many came without calmTime of being ready in between
	ready time.Time   // when the last process became ready; zero: it did not
	next  time.Time   // the earliest time of the next start
	// quarantined is set after too many crashes, until forget or a process that becomes ready.
	quarantined bool
}

// isReady records that a process became ready.
func (c *crashes) isReady(now time.Time) { c.ready, c.quarantined = now, false }

// add records a crash, and reports whether it was one too many. jitter is in [0, 1): plugins that crash together
// should not start together.
func (c *crashes) add(now time.Time, jitter float64) (tooMany bool) {
	if !c.ready.IsZero() && now.Sub(c.ready) >= calmTime {
		c.row = 0
	}
	c.ready = time.Time{}
	c.times = slices.DeleteFunc(c.times, func(t time.Time) bool { return now.Sub(t) >= crashWindow })
	c.times = append(c.times, now)
	delay := firstDelay << min(c.row, 16)
	c.row++
	delay = time.Duration(float64(min(delay, maxDelay)) * (0.8 + 0.2*jitter))
	c.next = now.Add(delay)
	tooMany = len(c.times) >= c.most
	c.quarantined = c.quarantined || tooMany
	return tooMany
}

// forget clears all crashes.
func (c *crashes) forget() { *c = crashes{most: c.most} }

// jitter returns a random factor in [0, 1).
func jitter() float64 { return rand.Float64() }
