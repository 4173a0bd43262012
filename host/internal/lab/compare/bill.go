package compare

import (
	"math"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
)

// bill prices the requests of one replay by several price lists, and next to them those of doing nothing.
type bill struct {
	lists         []*pricing.List
	meters        []*pricing.Meter // of what is sent, by list
	nothingMeters []*pricing.Meter // of what would be sent if nothing was done
	costs         []Cost
	unpruned      int // tokens of the request before, if nothing was done
}

// newBill returns a bill that adds to costs.
func newBill(lists []*pricing.List, costs []Cost) *bill {
	b := &bill{lists: lists, costs: costs}
	for _, l := range lists {
		b.meters, b.nothingMeters = append(b.meters, pricing.NewMeter(l)), append(b.nothingMeters, pricing.NewMeter(l))
	}
	return b
}

// request adds a turn to the costs and returns by list what all requests up to here cost, in USD.
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

// modelUSD is what a strategy's model calls cost: what its profile says, or by the list if the profile has no prices.
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

// cents rounds to a hundredth of a cent.
func cents(usd float64) float64 { return math.Round(usd*1e4) / 1e4 }
