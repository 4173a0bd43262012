package compare

import (
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
)

// report puts what the slots hold in order.
func (c *comparison) report() *Report {
	r := &Report{Prices: c.options.Prices, Variants: []VariantInfo{}, Sessions: []SessionReport{}, Totals: Results{Variants: []Result{}}}
	for _, v := range c.variants {
		r.Variants = append(r.Variants, v.VariantInfo)
	}
	nothing := newSum(NothingName, c.options.Prices)
	sums := make([]*sum, len(c.variants))
	for j, v := range c.variants {
		sums[j] = newSum(v.Name, v.lists)
	}
	for i, s := range c.options.Sessions {
		rec := c.recordings[i]
		session := SessionReport{Name: s.Name, Format: s.Transcript.Format, Entries: len(s.Transcript.Entries)}
		session.Results = Results{Nothing: unbegun(NothingName, c.options.Prices), Variants: []Result{}}
		if rec != nil {
			session.Tokens, session.Timed = rec.total, rec.timed
			for n, t := range rec.turns {
				if t.boundary {
					session.Boundaries = append(session.Boundaries, n+1)
				}
			}
			session.Nothing = c.nothing(rec)
			nothing.add(slot{result: session.Nothing, done: true})
		} else {
			nothing.add(slot{})
			r.Incomplete = true
		}
		for j, v := range c.variants {
			found := c.slots[i][j]
			if !found.done && found.err == nil {
				r.Incomplete = true
				found.result = unbegun(v.Name, v.lists)
			}
			if found.result.Variant == "" {
				found.result = unbegun(v.Name, v.lists)
			}
			found.result.Done = found.done
			if found.err != nil {
				found.result.Error = found.err.Error()
			}
			session.Variants = append(session.Variants, found.result)
			sums[j].add(found)
		}
		r.Sessions = append(r.Sessions, session)
	}
	r.Totals.Nothing = nothing.total()
	for _, s := range sums {
		r.Totals.Variants = append(r.Totals.Variants, s.total())
	}
	return r
}

// unbegun is a result without any figures.
func unbegun(variant string, lists []*pricing.List) Result {
	r := Result{Variant: variant, Costs: make([]Cost, len(lists)), Pruned: Pruned{Tools: []Share{}, Files: []Share{}}}
	for i, l := range lists {
		r.Costs[i].List = l.Name
	}
	r.shares()
	return r
}

// nothing is what the requests of a session are if nothing is done: each has all that stood before it. The limit is that of
// the host's settings.
func (c *comparison) nothing(rec *recording) Result {
	r := unbegun(NothingName, c.options.Prices)
	r.Sessions, r.Turns, r.Done = 1, len(rec.turns), true
	set := c.host.Config().Settings().Model
	var over []bool
	r.OverLimit, over = rec.over(set.ContextLimit - set.CompletionBudget)
	r.UnprunedOverLimit = r.OverLimit
	meters := make([]*pricing.Meter, len(c.options.Prices))
	for i, l := range c.options.Prices {
		meters[i] = pricing.NewMeter(l)
	}
	before := 0
	for n, t := range rec.turns {
		if t.boundary {
			before = 0
		}
		r.Sent += t.unpruned
		r.Peak = max(r.Peak, t.unpruned)
		point := Point{Turn: n + 1, Entry: t.entry, Sent: t.unpruned, Unpruned: t.unpruned, OverLimit: over[n], USD: make([]float64, len(meters))}
		for i, m := range meters {
			paid, cost := m.Request(pricing.Request{Stable: before, Tokens: t.unpruned, At: t.at}), &r.Costs[i]
			cost.USD += paid.USD
			cost.Nothing += paid.USD
			cost.CacheRead += paid.CacheRead
			cost.CacheWrite += paid.CacheWrite
			cost.Uncached += paid.Uncached
			point.USD[i] = cents(cost.USD)
		}
		before = t.unpruned
		r.Points = append(r.Points, point)
		for _, u := range t.used {
			r.Recall.Used++
			if u.onlyResults {
				r.Recall.UsedResults++
			}
		}
	}
	r.Unpruned, r.PeakUnpruned = r.Sent, r.Peak
	r.Recall.Kept, r.Recall.KeptResults = r.Recall.Used, r.Recall.UsedResults
	r.shares()
	return r
}

// sum adds results of one variant up: those of sessions that were replayed to their ends.
type sum struct {
	result Result
	pruned *prunings
	failed int
	missed bool
	of     int
	err    error // the first
}

func newSum(variant string, lists []*pricing.List) *sum {
	return &sum{result: unbegun(variant, lists), pruned: &prunings{byTool: map[string]*Share{}, files: map[string]*Share{}}}
}

func (s *sum) add(found slot) {
	s.of++
	switch {
	case found.err != nil:
		s.failed++
		if s.err == nil {
			s.err = found.err
		}
		return
	case !found.done:
		s.missed = true
		return
	}
	r, o := &s.result, &found.result
	r.Sessions += o.Sessions
	r.Turns += o.Turns
	r.Sent += o.Sent
	r.Unpruned += o.Unpruned
	r.Peak, r.PeakUnpruned = max(r.Peak, o.Peak), max(r.PeakUnpruned, o.PeakUnpruned)
	r.OverLimit += o.OverLimit
	r.UnprunedOverLimit += o.UnprunedOverLimit
	r.Rewrites += o.Rewrites
	r.Optimized += o.Optimized
	r.Held += o.Held
	r.Compressed += o.Compressed
	r.Laddered += o.Laddered
	for i := range o.Costs {
		c, d := &r.Costs[i], o.Costs[i]
		c.USD += d.USD
		c.Model += d.Model
		c.Nothing += d.Nothing
		c.CacheRead += d.CacheRead
		c.CacheWrite += d.CacheWrite
		c.Uncached += d.Uncached
	}
	r.Recall.Used += o.Recall.Used
	r.Recall.Kept += o.Recall.Kept
	r.Recall.UsedResults += o.Recall.UsedResults
	r.Recall.KeptResults += o.Recall.KeptResults
	r.Recall.Lost = append(r.Recall.Lost, o.Recall.Lost[:min(len(o.Recall.Lost), MaxLost-len(r.Recall.Lost))]...)
	r.Rereads.Calls += o.Rereads.Calls
	r.Rereads.Tokens += o.Rereads.Tokens
	if o.LLM != nil {
		if r.LLM == nil {
			r.LLM = &outcome.Spent{}
		}
		r.LLM.Add(*o.LLM)
	}
	r.HostTime += o.HostTime
	r.PluginTime += o.PluginTime
	if found.pruned != nil {
		s.pruned.merge(found.pruned)
	}
}

func (s *sum) total() Result {
	r := s.result
	r.Pruned = s.pruned.result()
	r.Done = s.failed == 0 && !s.missed
	switch {
	case s.failed == 0:
	case s.failed == s.of:
		r.Error = s.err.Error()
	default:
		r.Error = fmt.Sprintf("%d of %d sessions failed, the first: %v", s.failed, s.of, s.err)
	}
	r.shares()
	return r
}
