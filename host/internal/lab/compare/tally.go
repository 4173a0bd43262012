package compare

import (
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// tally holds the sums that a comparison adds to [replay.Totals]. An observer fills one turn by
// turn; the tallies of sessions are added up to that of a variant. Use newTally: the zero value has no room for costs
// and prunings.
type tally struct {
	replay.Totals
	sessions          int
	rewrites          int
	unprunedOverLimit int
	costs             []Cost // by price list
	recallTokens      int
	recall            Recall
	needs             Needs
	own               ownTally
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

// add adds the tally of another session, which must have the same price lists in the same order.
func (t *tally) add(o *tally) {
	t.Totals.Add(o.Totals)
	t.sessions += o.sessions
	t.rewrites += o.rewrites
	t.unprunedOverLimit += o.unprunedOverLimit
	t.recallTokens += o.recallTokens
	for i := range o.costs {
		t.costs[i].add(o.costs[i])
	}
	t.recall.add(&o.recall)
	t.needs.add(o.needs)
	t.own.add(o.own)
	t.rereads.Calls += o.rereads.Calls
	t.rereads.Tokens += o.rereads.Tokens
	t.pruned.add(o.pruned)
}

// add adds amounts in USD by one price list. Relative is not added: a share is computed from the sums, at the end.
func (c *Cost) add(o Cost) {
	c.Unpriced += o.Unpriced
	c.USD += o.USD
	c.Model += o.Model
	c.Nothing += o.Nothing
	c.Answers += o.Answers
	c.CacheRead += o.CacheRead
	c.CacheWrite += o.CacheWrite
	c.Uncached += o.Uncached
	c.RecallTool += o.RecallTool
	c.Searches += o.Searches
	c.Best += o.Best
}

// relative is what it cost against doing nothing; 0 if that cost nothing.
func (c *Cost) relative() float64 {
	if c.Nothing <= 0 {
		return 0
	}
	return c.USD/c.Nothing - 1
}

// add adds the counts, and the lost identifiers as long as there is room for them.
func (r *Recall) add(o *Recall) {
	r.Used += o.Used
	r.Kept += o.Kept
	r.UsedResults += o.UsedResults
	r.KeptResults += o.KeptResults
	r.UsedLines += o.UsedLines
	r.KeptLines += o.KeptLines
	r.Lost = append(r.Lost, o.Lost[:min(len(o.Lost), MaxLost-len(r.Lost))]...)
}

// add adds the counts; shares are computed from the sums, at the end.
func (n *Needs) add(o Needs) {
	n.Calls += o.Calls
	n.Kept += o.Kept
	n.Found += o.Found
	n.Edits += o.Edits
	n.KeptEdits += o.KeptEdits
}

// result returns the sums as a [Result], with the shares that follow from them. It shares slices with the tally.
func (t *tally) result(variant string) Result {
	r := Result{
		Variant: variant, Sessions: t.sessions, Turns: t.Turns,
		Sent: t.Sent, Unpruned: t.Unpruned, Saved: t.Saved(), Peak: t.Peak, PeakUnpruned: t.PeakUnpruned,
		OverLimit: t.Overflows, UnprunedOverLimit: t.unprunedOverLimit, Rewrites: t.rewrites,
		Optimized: t.Optimized, Held: t.Held, Compressed: t.Compressed, Laddered: t.Laddered,
		RecallTool: t.recallTokens, Costs: t.costs, Recall: t.recall, Needs: t.needs, Own: t.own.result(),
		Rereads: t.rereads, Pruned: t.pruned.result(),
		LLM: t.LLM, HostTime: t.HostTime, PluginTime: t.PluginTime,
	}
	for i := range r.Costs {
		c := &r.Costs[i]
		if c.Best > 0 && c.Best < c.Nothing {
			c.OfBest = (c.Nothing - c.USD) / (c.Nothing - c.Best)
		}
		if c.Relative = c.relative(); c.RecallTool > 0 {
			c.RecallToolShare = c.RecallTool / (c.USD + c.RecallTool)
		}
	}
	r.Recall.Share = share(r.Recall.Kept, r.Recall.Used)
	r.Recall.ShareResults = share(r.Recall.KeptResults, r.Recall.UsedResults)
	r.Recall.ShareLines = share(r.Recall.KeptLines, r.Recall.UsedLines)
	r.Needs.Share = share(r.Needs.Kept, r.Needs.Calls)
	r.Needs.ShareFound = share(r.Needs.Found, r.Needs.Calls-r.Needs.Kept)
	r.Needs.ShareEdits = share(r.Needs.KeptEdits, r.Needs.Edits)
	r.Kept = min(r.Recall.ShareLines, r.Own.Share)
	return r
}

// share returns kept/used, 1 if nothing was used: nothing was lost.
func share(kept, used int) float64 {
	if used == 0 {
		return 1
	}
	return float64(kept) / float64(used)
}
