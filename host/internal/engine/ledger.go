package engine

import (
	"time"

	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/store"
)

// Ledger tells what the requests of a session cost, and what they would have cost if nothing had been removed, with a
// prompt cache in both cases. It knows no more of the provider than its price list. It belongs to one goroutine.
type Ledger struct {
	// sent is for what was sent, whole for what would have been. Each has a prompt cache of its own. Nil: no price list
	// is known.
	sent, whole *pricing.Meter
	last        Prompt
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
	return &Ledger{sent: pricing.NewMeter(list), whole: pricing.NewMeter(list)}
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

// Request adds one request, of whose beginning stable tokens are those of the request before. It returns the difference
// in US dollars, which is negative where a rewrite cost more cache than it saved, and 0 without a price list; and
// whether the beginning of the request before was rewritten.
func (l *Ledger) Request(p Prompt, stable int, at time.Time) (saved float64, rewrote bool) {
	before := l.last
	l.last = p
	rewrote = before.Sent > 0 && stable < before.Sent
	if l.sent == nil {
		return 0, rewrote
	}
	paid := l.sent.Request(pricing.Request{Tokens: p.Sent, Stable: stable, At: at})
	// Where nothing is ever removed, all of the request before is the beginning of this one.
	spared := l.whole.Request(pricing.Request{Tokens: p.Whole, Stable: before.Whole, At: at})
	return spared.USD - paid.USD, rewrote
}
