package supervise

import (
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// firstDelay is the shortest time between a crash and the next start; each crash in a row doubles it.
	firstDelay = 250 * time.Millisecond
	maxDelay   = time.Minute
	// calmTime is how long a process must have been ready for the next crash to count as the first again.
	calmTime    = 5 * time.Minute
	crashWindow = 5 * time.Minute
)

// crashes counts a plugin's crashes and decides what follows: a delay that doubles with each, and quarantine after too
// many. The clock and the jitter are arguments, so tests need no waiting. It belongs to the owner's goroutine.
type crashes struct {
	most  int         // so many within crashWindow are too many
	times []time.Time // within crashWindow, oldest first
	row   int         // without calmTime of being ready in between
	ready time.Time   // when the last process became ready; zero: it did not
	next  time.Time   // the earliest time of the next start
	// quarantined is set after too many crashes, until forget or a process that becomes ready.
	quarantined bool
}

func (c *crashes) isReady(now time.Time) { c.ready, c.quarantined = now, false }

// add reports whether a crash was one too many. jitter in [0, 1) keeps plugins that crash together from starting
// together.
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

func (c *crashes) forget() { *c = crashes{most: c.most} }

func jitter() float64 { return rand.Float64() }
