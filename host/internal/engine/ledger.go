package engine

import (
	"time"

	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// Ledger tells what the requests of a session cost, and what they would have cost if nothing had been removed, with a
// prompt cache in both cases. It knows no more of the provider than its price list. It belongs to one goroutine. A nil
// Ledger counts nothing, so callers need no check for a price list.
// sent is what was sent, whole what would have been. Each has a prompt cache of its own.
type Ledger struct{ sent, whole *pricing.Meter }

// Prompt is the size of a request, in tokens, and how much of its beginning is that of the one before. Stable is at
// most Tokens.
type Prompt struct{ Tokens, Stable int }

// Ledger returns an empty ledger at the session's prices; nil if no price list is known for its model.
func (s *Session) Ledger() *Ledger {
	list, err := s.host.prices.choose(s.Config().Settings())
	if err != nil || list == nil {
		return nil
	}
	return &Ledger{pricing.NewMeter(list), pricing.NewMeter(list)}
}

// Request adds one request, as it was sent and as it would have been, and returns the difference in US dollars. It is
// negative where a rewrite cost more cache than it saved.
func (l *Ledger) Request(sent, whole Prompt, at time.Time) (saved float64) {
	if l == nil {
		return 0
	}
	paid := l.sent.Request(pricing.Request{Tokens: sent.Tokens, Stable: sent.Stable, At: at})
	spared := l.whole.Request(pricing.Request{Tokens: whole.Tokens, Stable: whole.Stable, At: at})
	return spared.USD - paid.USD
}
