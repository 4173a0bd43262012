package engine

import (
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
}

// Prompt is the size of a request, in tokens: as it was sent, and as it would have been if nothing had ever been
// removed.
type Prompt struct{ Sent, Whole int }

// Ledger returns an empty ledger at the session's prices.
func (s *Session) Ledger() *Ledger {
	list, err := s.host.prices.choose(s.Config().Settings())
	if err != nil || list == nil {
		return &Ledger{}
	}
	return &Ledger{list: list, sent: pricing.NewMeter(list), whole: pricing.NewMeter(list)}
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
// how much of it was read from the cache, written to it, and neither. Clients mark what is to be cached, or do not, and
// a cache expires. Call it once for each charge, when the answer has come; it may be called from any goroutine.
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
	read := float64(c.prompt.Sent) * float64(cached) / float64(input+cached+written)
	// After a rewrite the cache has less, which says nothing of what it has of a prompt that only grows. Caches that
	// hold whole blocks of tokens may not grow with each prompt.
	grew := int64(cached) > c.ledger.read.Swap(int64(cached))
	if !c.Rewrote && c.cached.Sent > 0 {
		c.ledger.missed.Store(!grew && read < 0.9*float64(c.cached.Sent))
	}
	whole := read
	switch missed := c.ledger.missed.Load(); {
	case !missed && c.Rewrote:
		whole = max(read, float64(c.cached.Whole))
	case !missed: // what was removed would have been read too
		whole += float64(c.cached.Whole - c.cached.Sent)
	}
	cost := func(tokens int, read float64) float64 {
		return (read*list.Read() + (float64(tokens)-read)*unread) / 1e6
	}
	return cost(c.prompt.Whole, whole) - cost(c.prompt.Sent, read)
}
