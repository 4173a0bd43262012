package compare

import (
	"math"

	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// observer looks at one replay turn by turn. What a turn costs it depends on what the turn changed, not on how long the
// history is.
type observer struct {
	rec    *recording
	lists  []*pricing.List
	result *Result
	pruned *prunings

	meters, nothing []*pricing.Meter // of each list

	finder *finder
	known  map[identity][]int32 // what entries that were sent hold
	sent   [][]int32            // what the entries of the last request hold
	stands []int32              // thing → how many entries of the last request hold it
}

// identity tells entries apart that were sent: what was kept is kept as it is, and what was changed has other blocks.
type identity struct {
	first *content.Block
	n     int
}

func newObserver(rec *recording, lists []*pricing.List, variant string, shares *prunings) *observer {
	o := &observer{
		rec: rec, lists: lists, pruned: shares, result: &Result{Variant: variant, Sessions: 1, Costs: make([]Cost, len(lists))},
		finder: newFinder(rec), known: map[identity][]int32{}, stands: make([]int32, rec.things),
	}
	for i, l := range lists {
		o.meters, o.nothing = append(o.meters, pricing.NewMeter(l)), append(o.nothing, pricing.NewMeter(l))
		o.result.Costs[i].List = l.Name
	}
	return o
}

// entry is told of each entry that the replay adds.
func (o *observer) entry(index int, id string) { o.pruned.entry(index, id) }

// turn is told of each turn.
func (o *observer) turn(t replay.Turn, p engine.Prepared) {
	r := o.result
	at := o.rec.turns[t.Turn-1]
	limits := p.Outcome.Limits
	r.Limits = &limits
	r.Turns++
	r.Sent += p.Tokens
	r.Unpruned += t.Unpruned
	r.Peak, r.PeakUnpruned = max(r.Peak, p.Tokens), max(r.PeakUnpruned, t.Unpruned)
	rewrite := o.send(p.History, t.Stable.Entries) && !t.Boundary && t.Turn > 1
	point := Point{Turn: t.Turn, Entry: t.Entry, Sent: p.Tokens, Unpruned: t.Unpruned, Rewrite: rewrite, OverLimit: t.Overflow != ""}
	if rewrite {
		r.Rewrites++
	}
	if point.OverLimit {
		r.OverLimit++
	}
	if t.Optimize.Removed+t.Optimize.Replaced > 0 && !t.Optimize.Held {
		r.Optimized++
	}
	if t.Optimize.Held {
		r.Held++
	}
	if t.Compress.Kind == outcome.KindApplied {
		r.Compressed++
	}
	if len(t.Ladder) > 0 {
		r.Laddered++
	}
	r.HostTime += t.HostTime
	r.PluginTime += t.PluginTime
	if t.Compress.LLM != nil {
		if r.LLM == nil {
			r.LLM = &outcome.Spent{}
		}
		r.LLM.Add(*t.Compress.LLM)
	}
	point.USD = o.price(t, p.Tokens)
	r.Points = append(r.Points, point)
	o.recall(at, t.Turn)
	o.reread(at)
	o.pruned.turn(p.Outcome.Changes)
}

// send takes down what stands in a request of which the first stable entries are those of the request before. It reports
// whether anything of that one is no longer there, or no longer in its place.
func (o *observer) send(history []content.Content, stable int) (changed bool) {
	stable = min(stable, len(o.sent), len(history))
	changed = stable < len(o.sent)
	for _, things := range o.sent[stable:] {
		for _, id := range things {
			o.stands[id]--
		}
	}
	o.sent = o.sent[:stable]
	for _, c := range history[stable:] {
		things := o.find(c)
		for _, id := range things {
			o.stands[id]++
		}
		o.sent = append(o.sent, things)
	}
	return changed
}

func (o *observer) find(c content.Content) []int32 {
	if len(c.Blocks) == 0 {
		return nil
	}
	key := identity{&c.Blocks[0], len(c.Blocks)}
	things, ok := o.known[key]
	if !ok {
		things = o.finder.find(c)
		o.known[key] = things
	}
	return things
}

// price adds a request to the costs and returns what all of them cost up to here.
func (o *observer) price(t replay.Turn, tokens int) []float64 {
	before := 0 // what doing nothing sent last: all of it is sent again
	if n := len(o.result.Points); n > 0 && !t.Boundary {
		before = o.result.Points[n-1].Unpruned
	}
	usd := make([]float64, len(o.lists))
	for i, l := range o.lists {
		c := &o.result.Costs[i]
		paid := o.meters[i].Request(pricing.Request{Stable: t.Stable.Tokens, Tokens: tokens, At: t.At})
		model := modelUSD(t.Compress.LLM, l)
		c.Model += model
		c.USD += paid.USD + model
		c.CacheRead += paid.CacheRead
		c.CacheWrite += paid.CacheWrite
		c.Uncached += paid.Uncached
		c.Nothing += o.nothing[i].Request(pricing.Request{Stable: before, Tokens: t.Unpruned, At: t.At}).USD
		usd[i] = cents(c.USD)
	}
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
		return (float64(s.InputTokens)*l.Input + float64(s.OutputTokens)*l.Output) / 1e6
	}
}

// cents rounds to a hundredth of a cent.
func cents(usd float64) float64 { return math.Round(usd*1e4) / 1e4 }

// recall counts what of the used words stands in the request.
func (o *observer) recall(at recordedTurn, turn int) {
	r := &o.result.Recall
	for _, u := range at.used {
		stands := o.stands[u.word] > 0
		r.Used++
		if u.onlyResults {
			r.UsedResults++
		}
		if stands {
			r.Kept++
			if u.onlyResults {
				r.KeptResults++
			}
		} else if len(r.Lost) < MaxLost {
			r.Lost = append(r.Lost, Lost{
				Identifier: o.rec.names[u.word], Session: o.rec.session.Name, Turn: turn, Entry: int(u.entry), From: int(u.from),
			})
		}
	}
}

// reread counts the calls whose earlier results do not stand in the request any more.
func (o *observer) reread(at recordedTurn) {
	for _, c := range at.repeats {
		if o.stands[c.group] == 0 {
			o.result.Rereads.Calls++
			o.result.Rereads.Tokens += c.tokens
		}
	}
}

// finish returns the result with its shares.
func (o *observer) finish() Result {
	if o.result.Limits != nil {
		_, over := o.rec.over(o.result.Limits.Hard)
		for _, is := range over[:o.result.Turns] {
			if is {
				o.result.UnprunedOverLimit++
			}
		}
	}
	o.result.Pruned = o.pruned.result()
	o.result.shares()
	return *o.result
}

// shares computes what follows from the sums.
func (r *Result) shares() {
	r.Saved = 0
	if r.Unpruned > 0 {
		r.Saved = 1 - float64(r.Sent)/float64(r.Unpruned)
	}
	for i := range r.Costs {
		c := &r.Costs[i]
		c.Relative = 0
		if c.Nothing > 0 {
			c.Relative = c.USD/c.Nothing - 1
		}
	}
	r.Recall.Share = share(r.Recall.Kept, r.Recall.Used)
	r.Recall.ShareResults = share(r.Recall.KeptResults, r.Recall.UsedResults)
}

func share(kept, used int) float64 {
	if used == 0 {
		return 1
	}
	return float64(kept) / float64(used)
}
