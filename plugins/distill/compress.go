package distill

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
)

const (
	// leastGain is the share of a history that a rewrite must remove while the request fits.
	leastGain = 0.1
	// corrections is how often the choice is made again because the host counts more than was estimated; closeEnough is
	// the share by which it may.
	corrections, closeEnough = 3, 0.03
	// reserve is the share of the target for lines of older entries where what must stay fills the target: without any
	// of them the work so far would be lost.
	reserve = 0.25
)

// Compress makes a history smaller without an LLM. What people said, pinned entries and the newest entries stay as they
// are. Of all else those lines stay that are worth their tokens: with identifiers that later calls are likely to need.
func (Strategy) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	s, err := settingsOf(in.Config)
	if err != nil {
		return sdk.CompressResult{}, err
	}
	schedule := newSchedule(in, s.SoftWindow)
	before := in.Tokens(0, len(in.History))
	switch {
	case len(in.History) == 0:
		return sdk.NoOp(sdk.NoOpEmptyHistory), nil
	case !schedule.due(in):
		return sdk.NoOp(notDue), nil
	case float64(before) <= schedule.target:
		return sdk.NoOp(sdk.NoOpAlreadyUnderTarget), nil
	}
	p := newPlan(in, schedule)
	if len(p.groups) == 0 {
		return sdk.NoOp(sdk.NoOpTailCoversAll), nil
	}
	entries, counts, after, err := p.fit(ctx, host)
	if err != nil {
		return sdk.CompressResult{}, err
	}
	// At the hard limit any gain is welcome: the request cannot be sent otherwise.
	least := 1
	if in.Reason != sdk.ReasonHardLimit {
		least = max(least, int(leastGain*float64(before)))
	}
	if before-after < least {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	return sdk.Applied(entries, sdk.CompressMetadata{TargetMissed: float64(after) > in.Target(), Counts: counts}), nil
}

// fit chooses and renders until the host counts no more than was wanted. It never asks for more again where the
// estimate was too high: the choice may jump, from all of some equal calls to none, and would jump back.
func (p *plan) fit(ctx context.Context, host sdk.Host) (
	entries []sdk.Content, counts map[string]int64, tokens int, err error,
) {
	// Where entries that must stay fill the target by themselves, a second pass would find the same, and lines that it
	// could take as well. So the result is a bit larger then, but never beyond the second target.
	want := max(p.schedule.target, min(p.base+reserve*p.schedule.target, p.schedule.retreat))
	ask := want
	for range 1 + corrections {
		if err := ctx.Err(); err != nil {
			return nil, nil, 0, err
		}
		p.settle(ask)
		entries, counts = p.render()
		// The host's count is what its limits go by. The estimate is only for the choice, which needs a count for
		// each line.
		each, err := host.EstimateTokens(ctx, entries)
		if err != nil {
			return nil, nil, 0, fmt.Errorf("counting %d entries: %w", len(entries), err)
		}
		tokens = 0
		for _, n := range each {
			tokens += n
		}
		over := float64(tokens) - want
		if over <= closeEnough*want {
			break
		}
		ask -= over
	}
	return entries, counts, tokens, nil
}
