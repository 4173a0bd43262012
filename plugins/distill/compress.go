package distill

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
)

const (
	// minGain is the share of a history that a rewrite must remove while the request fits.
	minGain = 0.1
	// reserve is the share of the target that is left for lines of results where the rest would fill it.
	reserve = 0.15
)

// Compress makes a history smaller without an LLM. What people said, pinned entries and the newest entries stay as they
// are, and what the AI said and wrote as long as there is room. Of results those lines stay that are worth their tokens:
// with identifiers that later calls are likely to need.
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
		least = max(least, int(minGain*float64(before)))
	}
	if before-after < least {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	return sdk.Applied(entries, sdk.CompressMetadata{TargetMissed: float64(after) > in.Target(), Counts: counts}), nil
}

// fit chooses and renders. tokens is what the host counts: its limits go by that, and the estimate is for the choice.
func (p *plan) fit(ctx context.Context, host sdk.Host) (
	entries []sdk.Content, counts map[string]int64, tokens int, err error,
) {
	spare := reserve * p.schedule.target
	budget := max(p.schedule.target, min(p.base+p.own+spare, p.schedule.retreat))
	p.keepOwn(budget - spare)
	p.settle(budget)
	entries, counts = p.render()
	each, err := host.EstimateTokens(ctx, entries)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("counting %d entries: %w", len(entries), err)
	}
	for _, n := range each {
		tokens += n
	}
	return entries, counts, tokens, nil
}
