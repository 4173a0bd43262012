package pricing

import "time"

// perMillion converts a price per million tokens into a price per token.
const perMillion = 1e-6

// Meter prices the requests of one conversation, in the order in which they are sent. Create it with [NewMeter], one
// per conversation: conversations share no cache. It is not safe for concurrent use.
type Meter struct {
	list   *List
	cached int       // tokens of the last prompt that the cache holds
	last   time.Time // when the last request was sent; zero if unknown
}

// NewMeter returns a meter for a conversation of which nothing is cached yet.
func NewMeter(list *List) *Meter { return &Meter{list: list} }

// Request is one prompt, as the meter needs to know it.
type Request struct {
	// Tokens is the size of the prompt. Stable is how much of its beginning equals the preceding prompt. Values out
	// of range are clamped: below 0 to 0, a Stable above Tokens to Tokens.
	Stable, Tokens int
	// At is when the request is sent. If it is zero for one of two consecutive requests, the cache is assumed to be
	// warm.
	At time.Time
}

// Cost is what one or more prompts cost: their tokens by price category, and the sum in USD.
type Cost struct {
	// CacheRead tokens were read from the cache. CacheWrite tokens were written to it at a separate price. Uncached
	// tokens cost the input price: there is no cache, the prompt is too short for it, or writing has no separate
	// price.
	CacheRead, CacheWrite, Uncached int
	USD                             float64
}

// Add adds another cost to c.
func (c *Cost) Add(o Cost) {
	c.CacheRead += o.CacheRead
	c.CacheWrite += o.CacheWrite
	c.Uncached += o.Uncached
	c.USD += o.USD
}

// Request prices the next request. Afterwards the cache holds its prompt, if the provider has a cache and the prompt
// is long enough.
//
// The cached beginning can be shorter than r.Stable: the cache holds no more than the preceding prompt, and nothing
// once it has expired.
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

// cold reports whether the cache has expired by the time at. With unknown times it only checks that there is a cache.
func (m *Meter) cold(at time.Time) bool {
	if at.IsZero() || m.last.IsZero() {
		return m.list.Cold(0)
	}
	return m.list.Cold(at.Sub(m.last))
}
