package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/store"
)

// Ledger tells what the requests of a session cost, and what they would have cost if nothing had been removed, with a
// prompt cache in both cases. It belongs to one goroutine, but for its charges.
type Ledger struct {
	list *pricing.List // nil: none is known
	// sent is for what was sent, whole for what would have been. Each has a prompt cache of its own.
	sent, whole *pricing.Meter
	last        Prompt
	// read is what the provider read from its cache last, in its tokens. missed: the last prompt that only grew was not
	// in there, or nothing but a beginning that stays: the cache expired, or the client marks no more than that.
	read   atomic.Int64
	missed atomic.Bool

	// mu guards what reports taught. counted and reported are the size of the last prompt, in the host's tokens and in
	// the provider's; grown is of what prompts that only grew had more than the one before.
	mu       sync.Mutex
	counted  Prompt
	reported float64
	grown    struct{ x, y, xx, xy, xn, yn, nn float64 }
}

// Prompt is the size of a request: as it was sent, and as it would have been if nothing had ever been removed.
type Prompt struct {
	Sent, Whole int // tokens
	// SentEntries and WholeEntries are how many entries these have.
	SentEntries, WholeEntries int
	// Reset: what comes before the history is not that of the request before, such as the list of tools.
	Reset bool
}

// Ledger returns an empty ledger at the session's prices.
func (s *Session) Ledger() *Ledger {
	list, err := s.host.prices.choose(s.Config().Settings())
	if err != nil || list == nil {
		return &Ledger{}
	}
	return &Ledger{list: list, sent: pricing.NewMeter(list), whole: pricing.NewMeter(list)}
}

// LedgerAfter is [Session.Ledger] for a session that goes on with another model: nothing is in that one's cache, and
// what the provider's reports taught still holds.
func (s *Session) LedgerAfter(before *Ledger) *Ledger {
	l := s.Ledger()
	before.mu.Lock()
	defer before.mu.Unlock()
	l.last, l.grown = before.last, before.grown
	return l
}

// Ledger returns an empty ledger at the prices of a session that is open; without prices if it is not.
func (h *Host) Ledger(key store.Key) *Ledger {
	h.mu.Lock()
	s := h.sessions[key]
	h.mu.Unlock()
	if s == nil {
		return &Ledger{}
	}
	return s.Ledger()
}

// Charge is what one request saved. The zero value saved nothing.
type Charge struct {
	// Saved is the difference in US dollars, which is negative where a rewrite cost more cache than it saved, and 0
	// without a price list. It supposes that the provider's cache has all that it may have.
	Saved float64
	// Rewrote: the beginning of the request before was rewritten.
	Rewrote bool

	ledger *Ledger // nil: no price list is known
	prompt Prompt
	cached Prompt // what the caches were supposed to have of it
}

// Request adds one request, of whose beginning stable tokens are those of the request before.
func (l *Ledger) Request(p Prompt, stable int, at time.Time) Charge {
	before := l.last
	l.last = p
	c := Charge{Rewrote: before.Sent > 0 && stable < before.Sent}
	if l.list == nil {
		return c
	}
	paid := l.sent.Request(pricing.Request{Tokens: p.Sent, Stable: stable, At: at})
	// Where nothing is ever removed, all of the request before is the beginning of this one.
	spared := l.whole.Request(pricing.Request{Tokens: p.Whole, Stable: before.Whole, At: at})
	c.Saved, c.ledger, c.prompt = spared.USD-paid.USD, l, p
	c.cached = Prompt{Sent: paid.CacheRead, Whole: spared.CacheRead}
	return c
}

// Reported returns what the request saved after all, by what the provider says of its prompt, in the provider's tokens:
// how much of it was read from the cache, written to it, and neither. Clients mark what is to be cached, or do not, a
// cache expires, and the host's count of a text is another than the bill's. Call it once for each charge, when the
// answer has come; it may be called from any goroutine.
func (c Charge) Reported(input, cached, written int) float64 {
	if c.ledger == nil || input+cached+written <= 0 {
		return c.Saved
	}
	list := c.ledger.list
	// What is not read costs as much, in the mean, for the whole prompt as for the one that was sent.
	unread := list.Write()
	if input+written > 0 {
		unread = (float64(input)*list.Input + float64(written)*list.Write()) / float64(input+written)
	}
	sent, read := float64(input+cached+written), float64(cached)
	each, around := c.ledger.learn(c, sent)
	tokens := float64(c.prompt.Whole - c.prompt.Sent)
	removed := tokens*each + float64(c.prompt.WholeEntries-c.prompt.SentEntries)*around
	if tokens > 0 {
		each = removed / tokens
	}
	whole := sent + removed
	// After a rewrite the cache has less, which says nothing of what it has of a prompt that only grows. Caches that
	// hold whole blocks of tokens may not grow with each prompt.
	grew := int64(cached) > c.ledger.read.Swap(int64(cached))
	had := sent * float64(c.cached.Sent) / float64(max(c.prompt.Sent, 1)) // what the cache was supposed to have
	missed := c.prompt.Reset && read <= had/2                             // by either prompt
	if !c.prompt.Reset && !c.Rewrote && c.cached.Sent > 0 {
		c.ledger.missed.Store(!grew && read < 0.9*had)
	}
	readOfWhole := read
	switch missed = missed || c.ledger.missed.Load(); {
	case !missed && c.Rewrote:
		readOfWhole = max(read, whole-float64(c.prompt.Whole-c.cached.Whole)*each)
	case !missed: // what was removed would have been read too
		readOfWhole += float64(c.cached.Whole-c.cached.Sent) * each
	}
	cost := func(tokens, read float64) float64 { return (read*list.Read() + (tokens-read)*unread) / 1e6 }
	return cost(whole, readOfWhole) - cost(sent, read)
}

// learn takes in how many tokens the provider counted for a prompt, and returns how many it counts for one of the
// host's, and how many around each entry, such as ids and signatures, which stay where only a text goes. It looks at
// what conversations grow by: system prompt and tools, which the host may count otherwise, are in all prompts.
func (l *Ledger) learn(c Charge, reported float64) (each, around float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, p := &l.grown, c.prompt
	x, y, n := float64(p.Sent-l.counted.Sent), reported-l.reported, float64(p.SentEntries-l.counted.SentEntries)
	if l.reported > 0 && !c.Rewrote && x > 0 && y > 0 {
		g.x, g.y, g.xx, g.xy = g.x+x, g.y+y, g.xx+x*x, g.xy+x*y
		g.xn, g.yn, g.nn = g.xn+x*n, g.yn+y*n, g.nn+n*n
	}
	l.counted, l.reported = p, reported
	// Least squares of y = each*x + around*n.
	det := g.xx*g.nn - g.xn*g.xn
	each, around = (g.xy*g.nn-g.yn*g.xn)/det, (g.yn*g.xx-g.xy*g.xn)/det
	switch {
	case det <= 0: // no two turns that differ
		return reported / float64(max(p.Sent, 1)), 0
	case each <= 0 || around <= 0:
		return g.y / g.x, 0
	}
	return each, around
}

// ReportedWhole returns what the request would have saved, where the provider reports the size of the whole one, in its
// tokens.
func (c Charge) ReportedWhole(tokens int) float64 {
	if tokens <= 0 {
		return c.Saved
	}
	return c.Saved * float64(tokens) / float64(max(c.prompt.Whole, 1))
}
