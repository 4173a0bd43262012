package compare

import (
	"math"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
)

// bill prices the requests of one replay by several price lists, together with the same requests if nothing had been
// done. The meters keep the state of the provider's prompt cache between requests, so requests must come in order.
//
// A request that cannot be sent costs nothing and puts nothing into the cache. It is left out on both sides, so that
// both are the price of the same requests. Doing nothing is priced for every request that the strategy made fit, also
// where the model would have refused it: otherwise a strategy that prunes early would be charged for that and not
// credited with what it saves later.
type bill struct {
	lists         []*pricing.List
	meters        []*pricing.Meter // for what is sent, parallel to lists
	nothingMeters []*pricing.Meter // for what would be sent if nothing was done
	// costs belong to the result, and are only added to.
	costs     []Cost // the sums, parallel to lists
	unpruned  int    // tokens of the last request that was priced if nothing had been done
	system    int    // tokens of the system prompt, with which every request begins
	untouched bool   // it is doing nothing that is priced
}

// newBill returns a bill that adds to costs, which has an element for each list.
func newBill(lists []*pricing.List, costs []Cost, system int) *bill {
	b := &bill{lists: lists, costs: costs, system: system}
	for _, l := range lists {
		b.meters, b.nothingMeters = append(b.meters, pricing.NewMeter(l)), append(b.nothingMeters, pricing.NewMeter(l))
	}
	return b
}

// request adds a turn to the costs and returns what all requests up to this one cost, in USD, parallel to the lists.
// Without a strategy, a request is the last one plus new entries, so all of the last one can come from the cache.
// sent says that the request could be sent.
func (b *bill) request(t replay.Turn, sent bool) []float64 {
	if t.Boundary {
		// the recorder replaced the context: nothing of it is in the provider's cache
		b.unpruned = min(b.unpruned, b.system)
	}
	usd := make([]float64, len(b.lists))
	stable := t.Stable.Tokens
	if b.untouched {
		stable = b.unpruned
	}
	for i, l := range b.lists {
		c := &b.costs[i]
		model := modelUSD(t.Compress.LLM, l) // was paid for, whatever became of the request
		c.Model += model
		c.USD += model
		// An overflow was not sent, and the next request does not follow from it.
		if sent {
			paid := b.meters[i].Request(pricing.Request{Stable: stable, Tokens: t.AfterCompress, At: t.At})
			c.USD += paid.USD
			c.CacheRead += paid.CacheRead
			c.CacheWrite += paid.CacheWrite
			c.Uncached += paid.Uncached
			c.Nothing += b.nothingMeters[i].Request(pricing.Request{Stable: b.unpruned, Tokens: t.Unpruned,
				At: t.At}).USD
		}
		usd[i] = cents(c.USD)
	}
	if sent {
		b.unpruned = t.Unpruned
	}
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
