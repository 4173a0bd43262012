package topdown

import (
	"context"
	"sort"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Strategy is top-down-truncation: it drops the oldest entries and needs no LLM. It has no state.
type Strategy struct{}

var _ sdk.Strategy = Strategy{}

// fewest is how many entries stay at least, before the cut moves to a safe place.
const fewest = 2

// Info names the strategy. Its trigger is a threshold: the host calls Compress from 85 % of the context limit on.
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		Name:        "top-down-truncation",
		Version:     "1.0.0",
		Description: "drops the oldest entries until the rest fits; needs no LLM",
		Trigger:     sdk.Threshold(0.85),
	}
}

// Compress keeps as many of the newest entries as count less than the target with what is pinned, and at least two. The
// cut then moves forward to where no response is parted from its call. Pinned entries before the cut stay, each with
// its exchange. It is a no-op if the history is already below the target.
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
	stay := make([]int, n+1) // tokens of the pinned entries before each
	for i, entry := range in.History {
		if stay[i+1] = stay[i]; entry.Pinned() {
			stay[i+1] += in.Tokens(i, i+1)
		}
	}
	// Binary search: the more entries are dropped, the fewer tokens are left. The first entry goes in any case, because
	// the history as a whole is over the target.
	cut := 1 + sort.Search(n-fewest-1, func(i int) bool { return float64(stay[1+i]+in.Tokens(1+i, n)) < target })
	cut = turns.CutForward(in.History, cut)
	kept, tokens := in.History[cut:], in.Tokens(cut, n)
	pinned := turns.Pinned(in.History, 0, cut)
	if len(pinned) == cut { // or the cut has moved to the beginning
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	if len(pinned) > 0 {
		kept = nil
		for _, i := range pinned {
			kept = append(kept, in.History[i])
			tokens += in.Tokens(i, i+1)
		}
		kept = append(kept, in.History[cut:]...)
	}
	return sdk.Applied(kept, sdk.CompressMetadata{
		BottomPreserved: new(n - cut),
		TargetMissed:    float64(tokens) > target,
		Counts:          map[string]int64{"entriesDropped": int64(cut - len(pinned))},
	}), nil
}
