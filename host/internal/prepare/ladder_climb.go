package prepare

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
)

// climb chooses the rungs for one rewrite. It tries them on separate ladders, of which one is then applied.
type climb struct {
	*turn
	base history.Snapshot
}

// rung is one step of the ladder: take removes until the history counts at most goal tokens, and returns how many
// entries it changed.
type rung struct {
	name outcome.Rung
	take func(l *ladder, ctx context.Context, goal int) (entries int, err error)
	goal int
}

// best returns the ladder that loses least, or one that is still over the hard limit if there is no other.
//
// The rungs are taken in their order, as far as those before them leave something to do. What the model has seen is
// removed down to the compress target, so the turns to come need no rewrite; new results are cut, and what people said
// is removed, only if the request does not fit otherwise, and then not as far. A rung that is not enough is then left
// out again if the one that is needed after all does as well without it.
func (c climb) best(ctx context.Context) (*ladder, error) {
	start, err := c.newLadder(ctx, c.base, c.view)
	if err != nil {
		return nil, err
	}
	target := min(start.hard, int(c.compressParams(start.total, sdk.ReasonHardLimit).Target()))
	rungs := []rung{
		{outcome.RungResults, (*ladder).results, target},
		{outcome.RungExchanges, (*ladder).exchanges, target},
	}
	l, err := c.take(ctx, rungs)
	if err == nil && l.total > l.hard {
		rungs = append(rungs, rung{outcome.RungLast, (*ladder).lastResults, l.roomy})
		l, err = c.take(ctx, rungs)
	}
	if err == nil && l.total > l.hard && !c.req.Settings.KeepHuman {
		human := rung{outcome.RungHuman, (*ladder).human, l.roomy + l.freeable()}
		var with *ladder
		if with, err = c.take(ctx, append(rungs[:2:2], human)); err != nil {
			return nil, err
		}
		rungs[2].goal, human.goal = l.roomy+with.taken(outcome.RungHuman), l.roomy
		rungs = append(rungs, human)
		l, err = c.take(ctx, rungs)
	}
	if err != nil || l.total > l.hard {
		return l, err
	}
	return c.fewer(ctx, rungs, l)
}

// take takes rungs on a separate ladder, and passes over a rung if the history is small enough.
func (c climb) take(ctx context.Context, rungs []rung) (*ladder, error) {
	l, err := c.newLadder(ctx, c.base, c.view)
	if err != nil {
		return nil, err
	}
	for _, r := range rungs {
		if l.total <= r.goal {
			continue
		}
		before := l.total
		l.taking = r.name
		n, err := r.take(l, ctx, r.goal)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			l.steps = append(l.steps, outcome.LadderStep{
				Rung: r.name, Entries: n, TokensBefore: before, TokensAfter: l.total,
			})
		}
	}
	return l, nil
}

// fewer returns a ladder with fewer rungs if the last one does as well without some of those before it: without all of
// them, or without all but the first ones.
func (c climb) fewer(ctx context.Context, rungs []rung, all *ladder) (*ladder, error) {
	if len(all.steps) < 2 || all.steps[len(all.steps)-1].TokensBefore <= all.hard { // those before it were enough
		return all, nil
	}
	needed := rungs[len(rungs)-1]
	for n := range len(rungs) - 1 {
		l, err := c.take(ctx, append(rungs[:n:n], needed))
		if err != nil {
			return nil, err
		}
		if l.total <= l.hard && l.total <= max(l.roomy, all.total) && l.spares(needed.name, all) {
			return l, nil
		}
	}
	return all, nil
}

// newResultsShare is the share of the hard limit that new results must keep to be cut instead of older ones.
const newResultsShare = 0.1

// spares reports whether a rung took no more than it did on another ladder, where others came before it. New results
// are cut further without those. But they were never sent: if enough is left of them, that hurts less than removing
// what the model works with, and costs no rewrite of the prompt cache.
func (l *ladder) spares(name outcome.Rung, other *ladder) bool {
	switch name {
	case outcome.RungLast:
		left := -l.taken(name)
		for _, r := range l.newResults() {
			left += r.tokens
		}
		return float64(left) >= newResultsShare*float64(l.hard)
	case outcome.RungHuman:
		return l.taken(name) <= other.taken(name)
	default:
		return l.steps[len(l.steps)-1].Entries <= other.steps[len(other.steps)-1].Entries
	}
}

func (l *ladder) taken(name outcome.Rung) (tokens int) {
	for _, s := range l.steps {
		if s.Rung == name {
			tokens += s.TokensBefore - s.TokensAfter
		}
	}
	return tokens
}
