package distill

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
)

// minGain is the share of a history that a rewrite must remove while the request fits.
const minGain = 0.1

// Compress makes a history smaller without an LLM. What people said, pinned entries and the newest entries stay as they
// are, and what the AI said and wrote as long as there is room; of results, lines with identifiers that stand nowhere
// else.
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
	p.choose()
	entries := p.render()
	// The plan is made with estimates; what was gained is what the host counts.
	each, err := host.EstimateTokens(ctx, entries)
	if err != nil {
		return sdk.CompressResult{}, fmt.Errorf("counting %d entries: %w", len(entries), err)
	}
	after := 0
	for _, n := range each {
		after += n
	}
	// At the hard limit any gain is welcome: the request cannot be sent otherwise.
	least := 1
	if in.Reason != sdk.ReasonHardLimit {
		least = max(least, int(minGain*float64(before)))
	}
	if before-after < least {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	return sdk.Applied(entries, sdk.CompressMetadata{TargetMissed: float64(after) > in.Target(), Counts: p.counts}), nil
}
