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
// Where the recording has usage, the provider's own counts are the base: see [replay.Base]. At the prices of the
// session's own model, what the recorder read from the cache and wrote to it is the base as well (recordedCache).
//
// A request that cannot be sent costs nothing and puts nothing into the cache. It is left out on both sides, so that
// both are the price of the same requests. Doing nothing is priced for every request that the strategy made fit, also
// where the model would have refused it: otherwise a strategy that prunes early would be charged for that and not
// credited with what it saves later.
type bill struct {
	rec           *recording
	lists         []*pricing.List  // of the columns, as the session is priced by them; nil where it is not
	own           []bool           // parallel to lists: it is that of the session's own model
	meters        []*pricing.Meter // for what is sent, parallel to lists
	nothingMeters []*pricing.Meter // for what would be sent if nothing was done
	cache         recordedCache
	// costs belong to the result, and are only added to.
	costs     []Cost // the sums, parallel to lists
	unpruned  int    // the host's count of the last request that was priced if nothing had been done
	untouched bool   // it is doing nothing that is priced
	// searched is what searches found since the last rewrite, which requests carry; by and sent are the price lists
	// and the tokens of the last request.
	searched int
	by       []*pricing.List
	sent     int
}

// newBill returns a bill that adds to costs, which has an element for each list.
func newBill(rec *recording, lists []*pricing.List, costs []Cost) *bill {
	b := &bill{rec: rec, costs: costs}
	for _, column := range lists {
		l, own := rec.list(column)
		b.lists, b.own, b.by = append(b.lists, l), append(b.own, own), append(b.by, l)
		if l == nil {
			costs[len(b.meters)].Unpriced++
			b.meters, b.nothingMeters = append(b.meters, nil), append(b.nothingMeters, nil)
			continue
		}
		modelled := replay.AsCached(rec.Transcript, l)
		b.meters = append(b.meters, pricing.NewMeter(modelled))
		b.nothingMeters = append(b.nothingMeters, pricing.NewMeter(modelled))
	}
	return b
}

// billed is one request as it was charged, in the provider's tokens.
type billed struct {
	sent, nothing int
	usd           []float64 // what all requests up to this one cost, parallel to the lists
}

// request adds a turn to the costs, and what it has for thresh_recall apart from them. Without a strategy, a request is
// the last one plus new entries, so all of the last one can come from the cache. sent says that the request could be
// sent, whole that it begins with all of the last one.
func (b *bill) request(t replay.Turn, sent, whole bool, more extra) (out billed) {
	stable := t.Stable.Tokens
	if !whole {
		b.searched = 0
	}
	if t.Boundary {
		// the recorder replaced the context: nothing of it is in the provider's cache
		b.unpruned = min(b.unpruned, b.rec.System)
		b.cache = recordedCache{}
	}
	if b.untouched {
		stable, whole = b.unpruned, true
	}
	for i, l := range b.lists {
		if l == nil {
			continue
		}
		model := modelUSD(t.Compress.LLM, l) // was paid for, whatever became of the request
		b.costs[i].Model += model
		b.costs[i].USD += model
	}
	for _, c := range b.rec.Charges(t.Turn - 1) {
		tokens, nothing := c.Tokens(t.AfterCompress), c.Tokens(t.Unpruned)
		out.sent, out.nothing = out.sent+tokens, out.nothing+nothing
		// An overflow was not sent, and the next request does not follow from it.
		if !sent {
			continue
		}
		is := pricing.Request{Stable: c.Tokens(stable), Tokens: tokens, At: t.At}
		was := pricing.Request{Stable: c.Tokens(b.unpruned), Tokens: nothing, At: t.At}
		if !t.Boundary {
			// What was sent again is all of the last request, also where the provider's counts of the two differ by
			// what no history holds: the meters know its size.
			was.Stable = nothing
			if whole {
				is.Stable = tokens
			}
		}
		b.charge(c, is, was, whole, more)
		b.unpruned = t.Unpruned
	}
	for i := range b.costs {
		out.usd = append(out.usd, cents(b.costs[i].USD))
	}
	return out
}

func (b *bill) charge(c replay.Charge, is, was pricing.Request, whole bool, more extra) {
	var paid, spared pricing.Prompt
	paidFor := is.Tokens
	if b.rec.cached {
		paid, spared = b.cache.request(c.Usage, is, whole), recordedPrompt(c.Usage)
		b.cache = recordedCache{sent: is.Tokens, nothing: was.Tokens}
	}
	if c.Usage != nil {
		is.Fast, was.Fast = c.Usage.Fast, c.Usage.Fast
	}
	for i, l := range b.lists {
		if l == nil {
			continue
		}
		cost := &b.costs[i]
		isCost, wasCost := b.meters[i].Request(is), b.nothingMeters[i].Request(was)
		if b.own[i] && c.Usage != nil {
			l = b.rec.listOf(l, c.Usage)
		}
		isList, wasList := forRequest(l, is), forRequest(l, was)
		if b.rec.cached && b.own[i] {
			isCost, wasCost = isList.Cost(b.rec.written(paid, l)), wasList.Cost(b.rec.written(spared, l))
		}
		isAnswer, wasAnswer := answerUSD(c.Output, isList), answerUSD(c.Output, wasList)
		// What the recorder says that the request cost is what it cost; the rest is in proportion.
		scale := 1.0
		if own := wasCost.USD + wasAnswer; b.own[i] && c.Usage != nil && c.Usage.USD > 0 && own > 0 {
			scale = c.Usage.USD / own
		}
		b.by[i], b.sent = isList, paidFor
		cost.search(b.searched, 0, 0, isList)
		cost.USD += scale * (isCost.USD + isAnswer)
		cost.Answers += scale * isAnswer
		cost.RecallTool += scale * more.cost(isList, isCost)
		cost.Nothing += scale * (wasCost.USD + wasAnswer)
		cost.CacheRead += isCost.CacheRead
		cost.CacheWrite += isCost.CacheWrite
		cost.Uncached += isCost.Uncached
	}
}

// forRequest returns the prices of a request.
func forRequest(l *pricing.List, r pricing.Request) *pricing.List {
	return l.For(pricing.Terms{Tokens: r.Tokens, At: r.At, Fast: r.Fast})
}

// answerUSD is what the answer cost, which is the recorded one, whatever the history.
func answerUSD(tokens int, l *pricing.List) float64 { return float64(tokens) * l.Output / 1e6 }

// searches adds that the model searched for each of n things before it could answer the last request, and what it found,
// in tokens: each takes one more request, of all that the last one had.
func (b *bill) searches(n, found int) {
	for i, l := range b.by {
		if l == nil {
			continue
		}
		b.costs[i].search(n*(b.sent+b.searched), n*searchTokens+found, n*searchTokens, l)
	}
	b.searched += n*searchTokens + found
}

// searchTokens is what the call of a search counts. What it finds is counted at bytesPerToken, which is fewer bytes than
// there are in most tokens.
const searchTokens, bytesPerToken = 100, 3

// search adds tokens that are read from the cache for searches, written to it, and answered.
func (c *Cost) search(read, write, output int, l *pricing.List) {
	usd := (float64(read)*l.Read() + float64(write)*l.Write() + float64(output)*l.Output) / 1e6
	c.Searches += usd
	c.USD += usd
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
