package prepare

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host/outcome"
)

// ladderRoom is the share of the hard limit that a rung clears down to, so that the next turn is not over the limit
// again at once.
const ladderRoom = 0.9

// makeFit handles a request that is still over the hard limit after the strategy's steps: down the ladder, if it is
// allowed, or the error. A rung may have to be repeated, because the provider's count of what is left is an estimate.
func (t *turn) makeFit(ctx context.Context) error {
	if t.req.Settings.Ladder {
		t.recordUsualRungs()
		for !t.fits() {
			applied, err := t.makeRoom(ctx)
			if err != nil {
				return err
			}
			if !applied {
				break
			}
			t.refresh()
		}
	}
	if !t.fits() {
		return t.overflow()
	}
	return nil
}

// recordUsualRungs records the steps of every turn as the first rungs of the ladder, so that it tells the whole story.
func (t *turn) recordUsualRungs() {
	o, c := t.outcome.Optimize, t.outcome.Compress
	if o.Removed+o.Replaced > 0 {
		t.outcome.Ladder = append(t.outcome.Ladder, outcome.LadderStep{
			Rung: outcome.RungOptimize, Entries: o.Removed + o.Replaced,
			TokensBefore: t.outcome.TokensBefore, TokensAfter: o.TokensAfter,
		})
	}
	if c.Kind == outcome.KindApplied {
		t.outcome.Ladder = append(t.outcome.Ladder, outcome.LadderStep{
			Rung: outcome.RungCompress, Entries: c.EntriesBefore - c.EntriesAfter,
			TokensBefore: c.TokensBefore, TokensAfter: c.TokensAfter,
		})
	}
}

// makeRoom goes down the ladder until the request is under the hard limit, and rewrites the history once. If all
// rungs together are not enough, it changes nothing and applied is false: a smaller history that still cannot be sent
// would be a loss without a gain.
func (t *turn) makeRoom(ctx context.Context) (applied bool, err error) {
	base := t.history.Snapshot()
	l, err := t.newLadder(ctx, base, t.view)
	if err != nil {
		return false, err
	}
	missing := t.outcome.Projected - t.outcome.Limits.Hard
	hard := l.total - t.hostTokens(missing)
	room := hard - t.hostTokens(int((1-ladderRoom)*float64(t.outcome.Limits.Hard)))
	for _, rung := range []struct {
		name outcome.Rung
		take func(ctx context.Context, goal int) (entries int, err error)
		goal int // tokens; what people said goes only as far as it must
	}{
		{outcome.RungResults, l.results, room},
		{outcome.RungExchanges, l.exchanges, room},
		{outcome.RungHuman, l.human, hard},
	} {
		if l.total <= hard {
			break
		}
		before := l.total
		l.taking = rung.name
		n, err := rung.take(ctx, rung.goal)
		if err != nil {
			return false, err
		}
		if n > 0 {
			l.steps = append(l.steps, outcome.LadderStep{
				Rung: rung.name, Entries: n, TokensBefore: before, TokensAfter: l.total,
			})
		}
	}
	if l.total > hard {
		return false, nil
	}
	return true, t.applyLadder(ctx, l)
}

// applyLadder rewrites the history. Each change is recorded under the last rung that touched the entry.
func (t *turn) applyLadder(ctx context.Context, l *ladder) error {
	plan, err := l.base.PlanCompress(ctx, l.base.Entries, "", l.pieces(), t.counter.All)
	if err == nil {
		err = t.apply(plan, "")
	}
	if err != nil {
		return fmt.Errorf("make room under the context limit: %w", err)
	}
	for i, c := range t.outcome.Changes {
		if c.Step == "" {
			t.outcome.Changes[i].Step = string(l.rung[c.EntryID])
		}
	}
	t.outcome.Ladder = append(t.outcome.Ladder, l.steps...)
	return nil
}
