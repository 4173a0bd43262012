package compare

import (
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// tally adds up what a comparison looks at beyond a replay's [replay.Totals]. An observer fills it turn by turn;
// tallies of sessions are added to those of a variant.
type tally struct {
	replay.Totals
	sessions          int
	rewrites          int
	unprunedOverLimit int
	costs             []Cost // by price list
	recall            Recall
	rereads           Rereads
	pruned            *prunings
}

func newTally(lists []*pricing.List) *tally {
	t := &tally{costs: make([]Cost, len(lists)), pruned: newPrunings()}
	for i, l := range lists {
		t.costs[i].List = l.Name
	}
	return t
}

// add adds another session with the same price lists.
func (t *tally) add(o *tally) {
	t.Totals.Add(o.Totals)
	t.sessions += o.sessions
	t.rewrites += o.rewrites
	t.unprunedOverLimit += o.unprunedOverLimit
	for i := range o.costs {
		t.costs[i].add(o.costs[i])
	}
	t.recall.add(&o.recall)
	t.rereads.Calls += o.rereads.Calls
	t.rereads.Tokens += o.rereads.Tokens
	t.pruned.add(o.pruned)
}

func (c *Cost) add(o Cost) {
	c.USD += o.USD
	c.Model += o.Model
	c.Nothing += o.Nothing
	c.CacheRead += o.CacheRead
	c.CacheWrite += o.CacheWrite
	c.Uncached += o.Uncached
}

func (r *Recall) add(o *Recall) {
	r.Used += o.Used
	r.Kept += o.Kept
	r.UsedResults += o.UsedResults
	r.KeptResults += o.KeptResults
	r.Lost = append(r.Lost, o.Lost[:min(len(o.Lost), MaxLost-len(r.Lost))]...)
}

// result returns the sums as a report has them, with the shares that follow from them.
func (t *tally) result(variant string) Result {
	r := Result{
		Variant: variant, Sessions: t.sessions, Turns: t.Turns,
		Sent: t.Sent, Unpruned: t.Unpruned, Saved: t.Saved(), Peak: t.Peak, PeakUnpruned: t.PeakUnpruned,
		OverLimit: t.Overflows, UnprunedOverLimit: t.unprunedOverLimit, Rewrites: t.rewrites,
		Optimized: t.Optimized, Held: t.Held, Compressed: t.Compressed, Laddered: t.Laddered,
		Costs: t.costs, Recall: t.recall, Rereads: t.rereads, Pruned: t.pruned.result(),
		LLM: t.LLM, HostTime: t.HostTime, PluginTime: t.PluginTime,
	}
	for i := range r.Costs {
		if c := &r.Costs[i]; c.Nothing > 0 {
			c.Relative = c.USD/c.Nothing - 1
		}
	}
	r.Recall.Share = share(r.Recall.Kept, r.Recall.Used)
	r.Recall.ShareResults = share(r.Recall.KeptResults, r.Recall.UsedResults)
	return r
}

// share is the part of the used things that were kept: all of them if nothing was used.
func share(kept, used int) float64 {
	if used == 0 {
		return 1
	}
	return float64(kept) / float64(used)
}
