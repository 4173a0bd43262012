package distill

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
)

// Strategy is distill. It has no state: what Optimize remembers is in the memo that the SDK keeps.
type Strategy struct{}

var (
	_ sdk.Strategy  = Strategy{}
	_ sdk.Optimizer = Strategy{}
)

// Info names the strategy and its settings.
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		Name:        "distill",
		Version:     "1.1.0",
		Description: "keeps the agent's words and lines that later calls need, rewrites rarely; needs no LLM",
		Trigger:     sdk.Continuous(threshold).Early(earlyThreshold),
		Config: []sdk.ConfigField{{
			Key: "softWindow", Type: sdk.Number, Default: softest, Minimum: new(softest), Maximum: new(1.0),
			Description: "the share that is used of a context window of 150,000 tokens or more",
		}},
	}
}

// minGain is the share of a history that a rewrite must remove while the request fits.
const minGain = 0.1

// Compress makes a history smaller without an LLM. What people said, pinned entries and the newest entries stay as they
// are, and what the AI said and wrote as long as there is room; of results, lines with identifiers that stand nowhere
// else.
func (Strategy) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	settings := struct {
		SoftWindow float64 `json:"softWindow"`
	}{softest}
	if err := in.Config.Decode(&settings); err != nil {
		return sdk.CompressResult{}, fmt.Errorf("settings: %w", err)
	}
	schedule := newSchedule(in, settings.SoftWindow)
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
	gain := before - after
	if gain <= 0 || in.Reason != sdk.ReasonHardLimit && gain < int(minGain*float64(before)) {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	return sdk.Applied(entries, sdk.CompressMetadata{TargetMissed: float64(after) > in.Target(), Counts: p.counts}), nil
}
