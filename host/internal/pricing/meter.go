package pricing

import "time"

// perMillion turns prices for a million tokens into prices for one.
const perMillion = 1e-6

// Meter prices the requests of one conversation, in the order in which they are sent. Make it with [NewMeter]. It is for one
// goroutine.
type Meter struct {
	list   *List
	cached int // tokens of the last prompt that the cache holds
	last   time.Time
}

// NewMeter returns a meter for a conversation of which nothing is cached yet.
func NewMeter(list *List) *Meter { return &Meter{list: list} }

// Request is one prompt.
type Request struct {
	// Tokens is what the prompt counts, Stable how much of its beginning is that of the prompt before it. Less than 0
	// counts as 0, a Stable over Tokens as Tokens.
	Stable, Tokens int
	// At is when it is sent. Where it is not known of two requests in a row (zero), the cache is held to be warm.
	At time.Time
}

// Cost is what one or more prompts cost: their tokens, by what is asked for them, and the sum.
type Cost struct {
	// CacheRead tokens were cached. CacheWrite tokens were written to the cache at a price of its own. Uncached tokens cost
	// what input costs: there is no cache, the prompt is too short for it, or writing costs nothing.
	CacheRead, CacheWrite, Uncached int
	USD                             float64
}

// Add adds another cost.
func (c *Cost) Add(o Cost) {
	c.CacheRead += o.CacheRead
	c.CacheWrite += o.CacheWrite
	c.Uncached += o.Uncached
	c.USD += o.USD
}

// Request prices the next request. The cache then holds its prompt.
func (m *Meter) Request(r Request) Cost {
	tokens := max(r.Tokens, 0)
	stable := min(max(r.Stable, 0), tokens)
	var c Cost
	if read := min(stable, m.cached); read > 0 && read >= m.list.CacheMinimum && !m.cold(r.At) {
		c.CacheRead = read
	}
	c.Uncached = tokens - c.CacheRead
	m.last, m.cached = r.At, 0
	if m.list.CacheRead > 0 && tokens >= m.list.CacheMinimum {
		m.cached = tokens
		if m.list.CacheWrite > 0 {
			c.CacheWrite, c.Uncached = c.Uncached, 0
		}
	}
	l := m.list
	c.USD = perMillion * (float64(c.CacheRead)*l.Read() + float64(c.CacheWrite)*l.Write() + float64(c.Uncached)*l.Input)
	return c
}

func (m *Meter) cold(at time.Time) bool {
	if at.IsZero() || m.last.IsZero() {
		return m.list.Cold(0)
	}
	return m.list.Cold(at.Sub(m.last))
}
