package main

import (
	"context"
	"fmt"
	"math"

	"github.com/thresh-dev/thresh/sdk"
)

const (
	// leastGain is the share of a history that a rewrite must remove while the request fits.
	leastGain = 0.1
	// corrections is how often the choice is made again because the host counts otherwise than was estimated; close is
	// how far its count may be off.
	corrections, closeEnough = 3, 0.03
	// reserve is the share of the target for lines of older entries where what must stay fills the target: without any
	// of them the work so far would be lost.
	reserve = 0.25
)

// Compress makes a history smaller without an LLM. What people said, pinned entries and the newest entries stay as they
// are. Of all else those lines stay that are worth their tokens: with identifiers that later calls are likely to need,
// and lines of files that were worked on lately.
func (Strategy) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	s := settings{SoftWindow: softest}
	if err := in.Config.Decode(&s); err != nil {
		return sdk.CompressResult{}, fmt.Errorf("settings: %w", err)
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
	least := 1
	if in.Reason != sdk.ReasonHardLimit {
		least = max(least, int(leastGain*float64(before)))
	}
	if before-after < least {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	return sdk.Applied(entries, sdk.CompressMetadata{TargetMissed: float64(after) > in.Target(), Counts: counts}), nil
}

// fit chooses and renders until the host's count is about what was wanted.
func (p *plan) fit(ctx context.Context, host sdk.Host) (
	entries []sdk.Content, counts map[string]int64, tokens int, err error,
) {
	want := max(p.schedule.target, min(p.base+reserve*p.schedule.target, p.schedule.retreat))
	ask := want
	for range 1 + corrections {
		if err := ctx.Err(); err != nil {
			return nil, nil, 0, err
		}
		p.settle(ask)
		entries, counts = p.render()
		each, err := host.EstimateTokens(ctx, entries)
		if err != nil {
			return nil, nil, 0, fmt.Errorf("counting %d entries: %w", len(entries), err)
		}
		tokens = 0
		for _, n := range each {
			tokens += n
		}
		off := float64(tokens) - want
		if math.Abs(off) <= closeEnough*want {
			break
		}
		ask -= off
	}
	return entries, counts, tokens, nil
}
