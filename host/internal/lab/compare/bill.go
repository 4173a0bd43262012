package compare

import (
	"math"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
)

// bill prices the requests of one replay by several price lists, together with the same requests if nothing had been
// done. The meters keep the state of the provider's prompt cache between requests, so requests must come in order.
type bill struct {
	lists         []*pricing.List
	meters        []*pricing.Meter // for what is sent, parallel to lists
	nothingMeters []*pricing.Meter // for what would be sent if nothing was done
	costs         []Cost           // the sums, parallel to lists
	unpruned      int              // tokens of the previous request if nothing had been done
}

// newBill returns a bill that adds to costs, which has an element for each list.
func newBill(lists []*pricing.List, costs []Cost) *bill {
	b := &bill{lists: lists, costs: costs}
	for _, l := range lists {
		b.meters, b.nothingMeters = append(b.meters, pricing.NewMeter(l)), append(b.nothingMeters, pricing.NewMeter(l))
	}
	return b
}

// request adds a turn to the costs and returns what all requests up to this one cost, in USD, parallel to the lists.
// Without a strategy, a request is the previous one plus new entries, so all of the previous one can come from the
// cache.
func (b *bill) request(t replay.Turn) []float64 {
	if t.Boundary {
		b.unpruned = 0 // the recorder replaced the context: nothing of it is in the provider's cache
	}
	usd := make([]float64, len(b.lists))
	for i, l := range b.lists {
		c := &b.costs[i]
		paid := b.meters[i].Request(pricing.Request{Stable: t.Stable.Tokens, Tokens: t.AfterCompress, At: t.At})
		model := modelUSD(t.Compress.LLM, l)
		c.Model += model
		c.USD += paid.USD + model
		c.CacheRead += paid.CacheRead
		c.CacheWrite += paid.CacheWrite
		c.Uncached += paid.Uncached
		c.Nothing += b.nothingMeters[i].Request(pricing.Request{Stable: b.unpruned, Tokens: t.Unpruned, At: t.At}).USD
		usd[i] = cents(c.USD)
	}
	b.unpruned = t.Unpruned
	return usd
}

// modelUSD returns the cost of a strategy's own model calls: what its profile computed, or the price by this list if
// the profile has no prices. No prompt cache is assumed: each call has a different prompt.
func modelUSD(s *outcome.Spent, l *pricing.List) float64 {
	switch {
	case s == nil:
		return 0
	case s.CostUSD > 0:
		return s.CostUSD
	default:
		return (float64(s.InputTokens)*l.Input + float64(s.OutputTokens)*l.Output) / 1e6 // prices are for a million
	}
}

// cents rounds to a hundredth of a cent, which keeps the JSON form of long sessions small.
func cents(usd float64) float64 { return math.Round(usd*1e4) / 1e4 }
