package main

import (
	"context"
	"sort"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Strategy is top-down-truncation: it drops the oldest entries and needs no LLM. It keeps nothing between calls.
type Strategy struct{}

var _ sdk.Strategy = Strategy{}

// fewest is how many entries stay before the cut moves to a safe place.
const fewest = 2

// Info names the strategy and its trigger (REQ-HD-001.3).
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		Name:        "top-down-truncation",
		Version:     "1.0.0",
		Description: "drops the oldest entries until the rest fits; needs no LLM",
		Trigger:     sdk.Threshold(0.85),
	}
}

// Compress keeps the longest end of the history that counts less than the target, which it is told to be over, and at
// least two entries. The cut then moves to where no response is parted from its call.
func (Strategy) Compress(_ context.Context, _ sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	n := len(in.History)
	target := in.Target()
	if n == 0 {
		return sdk.NoOp(sdk.NoOpEmptyHistory), nil
	}
	if float64(in.CurrentTokens) <= target {
		return sdk.NoOp(sdk.NoOpAlreadyUnderTarget), nil
	}
	if n <= fewest {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	// The more is dropped, the less is left: a suffix can be found by halving. The first entry goes in any case, since
	// the history as a whole is over the target.
	cut := 1 + sort.Search(n-fewest-1, func(i int) bool { return float64(in.Tokens(1+i, n)) < target })
	cut = turns.CutForward(in.History, cut)
	if cut == 0 {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	return sdk.Applied(in.History[cut:], sdk.CompressMetadata{
		BottomPreserved: new(n - cut),
		TargetMissed:    float64(in.Tokens(cut, n)) > target,
		Counts:          map[string]int64{"entriesDropped": int64(cut)},
	}), nil
}
