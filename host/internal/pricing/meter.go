package pricing

import "time"

const perMillion = 1e-6

// Meter prices the requests of one conversation, in order: they share no cache. It is not safe for concurrent use.
type Meter struct {
	list   *List
	cached int       // tokens of the last prompt in the cache
	last   time.Time // when the last request was sent; zero if unknown
}

func NewMeter(list *List) *Meter { return &Meter{list: list} }

type Request struct {
	// Tokens is the size of the prompt, Stable how much of its beginning equals the preceding prompt. Both are clamped.
	Stable, Tokens int
	// At is when the request is sent. If unknown (zero) for one of two consecutive requests, the cache counts as warm.
	At time.Time
	// Fast says that the request asked for speed.
	Fast bool
}

// Cost is what prompts cost: their tokens by price category, and the sum in USD.
type Cost struct {
	// Uncached tokens cost the input price: no cache, a prompt too short for it, or no price of its own for writing.
	CacheRead, CacheWrite, Uncached int
	USD                             float64
}

// Request prices the next request, which is then cached if the provider has a cache and the prompt is long enough. Less
// than r.Stable may be read: the cache has no more than the preceding prompt, and nothing once expired.
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
	l := m.list.For(Terms{Tokens: tokens, At: r.At, Fast: r.Fast})
	c.USD = perMillion * (float64(c.CacheRead)*l.Read() + float64(c.CacheWrite)*l.Write() + float64(c.Uncached)*l.Input)
	return c
}

// cold reports whether the cache has expired by then. With unknown times it only checks that there is a cache.
func (m *Meter) cold(at time.Time) bool {
	if at.IsZero() || m.last.IsZero() {
		return m.list.Cold(0)
	}
	return m.list.Cold(at.Sub(m.last))
}
