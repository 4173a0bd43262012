package prepare

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// hugeShare is the share of the history's room above which results that came together are huge. A compress target is
// about half of the room, or less: a strategy that keeps them has nothing left for all that fitted before. On recorded
// sessions at 60,000 tokens, a quarter lost seven points of the lines that later turns used, half hardly any.
const hugeShare = 0.5

// cutHuge cuts the middle out of huge results, and reports whether it did. It is for a history that a strategy would
// rewrite otherwise. All results that came together and are huge are cut to the same size, so that the history counts
// what a Compress aims at, and no request needs a rewrite soon. A history that is too large all the same is compressed
// then, and there the results are too small to push others out.
func (t *turn) cutHuge(ctx context.Context, reason sdk.CompressReason) (bool, error) {
	if !t.req.Settings.Ladder || t.blocked {
		return false, nil
	}
	l, err := t.newLadder(ctx, t.snapshot(), t.view)
	if err != nil {
		return false, err
	}
	before := l.total
	l.taking = outcome.RungHuge
	n, err := l.hugeResults(ctx, int(t.compressParams(l.total, reason).Target()))
	if err != nil || n == 0 {
		return false, err
	}
	if reason != sdk.ReasonHardLimit {
		plan, err := l.plan(ctx)
		if err != nil {
			return false, err
		}
		if _, pays := t.needed(plan, l.base, reason); !pays {
			return false, nil
		}
	}
	l.steps = []outcome.LadderStep{{Rung: l.taking, Entries: n, TokensBefore: before, TokensAfter: l.total}}
	if err := t.applyLadder(ctx, l); err != nil {
		return false, err
	}
	t.mu.Lock()
	t.known.NoOp = nil // it was about another history
	t.mu.Unlock()
	t.refresh()
	if reason == sdk.ReasonHardLimit {
		t.warn("the request was over the context limit of %d tokens, and the host removed the middle of huge results of "+
			"tools; compression.hardLimit decides what may go", t.outcome.Limits.Hard)
	}
	return true, nil
}

// planWithoutHuge cuts huge results once a strategy wants to rewrite a history that fits, because only its answer says
// whether it does. It asks the strategy again if a Compress is still due. Strategies that call a model are not asked
// for an answer that may be dropped: huge results are cut before.
func (t *turn) planWithoutHuge(ctx context.Context, plan *history.Plan, s history.Snapshot, reason sdk.CompressReason) (
	*history.Plan, history.Snapshot, error,
) {
	if reason != sdk.ReasonThreshold && reason != sdk.ReasonCacheCold {
		return plan, s, nil
	}
	out := &t.outcome.Compress
	cut, err := t.cutHuge(ctx, reason)
	if err != nil || !cut {
		return plan, s, err
	}
	s = t.snapshot()
	if t.compressReason() != "" {
		before := out.PluginTime
		plan, err = t.planCompress(ctx, s, reason)
		out.PluginTime += before
		return plan, s, err
	}
	*out = outcome.Compress{Reason: reason, Kind: outcome.KindNoOp, NoOp: outcome.NoOpDoesNotPay,
		PluginTime: out.PluginTime}
	return nil, s, nil
}

// hugeResults shortens the largest of the huge results, all to the same size, until the history counts at most goal
// tokens, but not so far that nothing of use is left of them.
func (l *ladder) hugeResults(ctx context.Context, goal int) (int, error) {
	var huge []result
	sum := 0
	for from := 0; from < len(l.entries); from++ {
		to := from
		for to < len(l.entries) && l.entries[to].Speaker == content.Tool { // those of parallel calls
			to++
		}
		together, n := l.resultsIn(from, to), 0
		for _, r := range together {
			n += r.tokens
		}
		if float64(n) > hugeShare*float64(l.hard) {
			huge, sum = append(huge, together...), sum+n
		}
		from = max(from, to-1)
	}
	room := max(goal-(l.total-sum), int(newResultsShare*float64(l.hard)))
	if room >= sum {
		return 0, nil
	}
	large, most := shares(huge, room-sum)
	return l.cut(ctx, large, most)
}
