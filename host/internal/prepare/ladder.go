package prepare

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
)

// humanRoom is the share of the hard limit down to which what people said and the last results are removed, if they
// must be: some room for the next turn, but less than other rungs make. It is also how far below the hard limit a
// Compress must get for the ladder to have nothing to do.
const humanRoom = 0.9

// makeFit handles a request that was over the hard limit before the strategy's Compress, and still is or nearly is: by
// the ladder, if it is allowed, then without what the model read again, or with the error.
func (t *turn) makeFit(ctx context.Context) error {
	if t.req.Settings.Ladder && !t.roomy() {
		t.recordUsualRungs()
		_, err := t.keepNewest() // maybe no Compress was tried
		if err == nil {
			err = t.descend(ctx)
		}
		if err == nil && !t.fits() && t.withheld != nil {
			// The little that the Compress gains may be what is missing.
			if err = t.applyCompress(t.withheld, t.snapshot()); err == nil {
				t.recordCompressRung()
				err = t.descend(ctx)
			}
		}
		if err == nil && !t.fits() {
			err = t.withoutRecalls(ctx)
		}
		if err != nil {
			return err
		}
		t.warnLadder()
	} else if !t.fits() {
		if err := t.withoutRecalls(ctx); err != nil {
			return err
		}
	}
	if !t.fits() {
		return t.overflow()
	}
	return nil
}

// withoutRecalls lets go of what the model read again, and tries once more.
func (t *turn) withoutRecalls(ctx context.Context) error {
	t.keeper.LetGo()
	changed, err := t.markKept()
	if err != nil || !changed {
		return err
	}
	if t.req.Settings.Ladder {
		return t.descend(ctx)
	}
	t.mu.Lock()
	t.known.NoOp = nil // it was about another history
	t.mu.Unlock()
	return t.compress(ctx, sdk.ReasonHardLimit)
}

// descend may have to repeat the ladder, because the provider's count of what is left is an estimate.
func (t *turn) descend(ctx context.Context) error {
	// The request may fit, but so barely that the next turn would be over the limit again: then one try is made.
	for tries := 0; !t.fits() || tries == 0; tries++ {
		applied, err := t.makeRoom(ctx)
		if err != nil {
			return err
		}
		if !applied && tries == 0 && t.fits() { // the Compress was enough, and no rung had anything to take
			t.outcome.Ladder = nil
		}
		// More tries would find the same.
		if !applied {
			break
		}
		t.refresh()
	}
	return nil
}

// roomy reports whether the request is far enough below the hard limit for some turns: a rewrite at the limit that
// gains less would be followed by another one at the next turn.
func (t *turn) roomy() bool {
	return float64(t.outcome.Projected) <= humanRoom*float64(t.outcome.Limits.Hard)
}

// warnLadder says what the ladder removed. What people said is named, because no one else keeps it in the conversation.
func (t *turn) warnLadder() {
	var took []string
	human := false
	for _, s := range t.outcome.Ladder {
		switch s.Rung {
		case outcome.RungOptimize, outcome.RungCompress: // the strategy's own work
		case outcome.RungResults:
			took = append(took, fmt.Sprintf("the results in %d entries of tools", s.Entries))
		case outcome.RungExchanges:
			took = append(took, fmt.Sprintf("%d old entries of the AI and of tools", s.Entries))
		case outcome.RungHuman:
			took = append(took, fmt.Sprintf("words of people in %d messages", s.Entries))
			human = true
		case outcome.RungLast:
			took = append(took, fmt.Sprintf("the middle of results in %d of the last entries of tools, "+
				"which the model has not seen yet", s.Entries))
		}
	}
	if len(took) == 0 {
		return
	}
	advice := "compression.hardLimit decides what may go"
	if human {
		advice = "compression.hardLimit: make-room-keep-human keeps what people said"
	}
	t.warn("the request was over the context limit of %d tokens, and the host removed %s; %s",
		t.outcome.Limits.Hard, strings.Join(took, ", "), advice)
}

func (t *turn) recordUsualRungs() {
	if o := t.outcome.Optimize; o.Removed+o.Replaced > 0 {
		t.outcome.Ladder = append(t.outcome.Ladder, outcome.LadderStep{
			Rung: outcome.RungOptimize, Entries: o.Removed + o.Replaced,
			TokensBefore: t.outcome.TokensBefore, TokensAfter: o.TokensAfter,
		})
	}
	t.recordCompressRung()
}

func (t *turn) recordCompressRung() {
	if c := t.outcome.Compress; c.Kind == outcome.KindApplied {
		t.outcome.Ladder = append(t.outcome.Ladder, outcome.LadderStep{
			Rung: outcome.RungCompress, Entries: c.EntriesBefore - c.EntriesAfter,
			TokensBefore: c.TokensBefore, TokensAfter: c.TokensAfter,
		})
	}
}

// makeRoom runs the ladder until the request is under the hard limit, and rewrites the history once. If all rungs
// together are not enough for the hard limit, it changes nothing and applied is false: a smaller history that still
// cannot be sent is a loss without a gain. Nor does it make room for only a few more turns.
func (t *turn) makeRoom(ctx context.Context) (applied bool, err error) {
	c := climb{turn: t, base: t.snapshot()}
	l, err := c.best(ctx)
	if err != nil || l.total > l.hard || len(l.steps) == 0 || t.fits() && l.total > l.roomy {
		return false, err
	}
	return true, t.applyLadder(ctx, l)
}

// applyLadder records each change under the last rung that touched the entry.
func (t *turn) applyLadder(ctx context.Context, l *ladder) error {
	plan, err := l.plan(ctx)
	if err == nil {
		err = t.apply(plan, "")
	}
	if err != nil {
		return fmt.Errorf("make room under the context limit: %w", err)
	}
	for i, c := range t.outcome.Changes {
		// Changes of earlier steps of the turn have theirs.
		if c.Step == "" {
			t.outcome.Changes[i].Step = string(cmp.Or(l.rung[c.EntryID], l.steps[len(l.steps)-1].Rung)) // of a mark
		}
	}
	t.outcome.Ladder = append(t.outcome.Ladder, l.steps...)
	return nil
}
