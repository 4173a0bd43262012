package oneshot

import (
	"context"
	"math"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/summary"
)

// Strategy is one-shot: an LLM's summary replaces all entries but the newest. It has no state.
type Strategy struct{}

var _ sdk.Strategy = Strategy{}

// Info names the strategy. Its trigger is a threshold: the host calls Compress from 85 % of the context limit on.
// RequiresLLM makes the host demand an LLM profile before the first turn, not at the first Compress.
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		Name:        "one-shot",
		Version:     "1.0.0",
		Description: "has a model summarise everything but the newest entries; needs an LLM profile",
		Trigger:     sdk.Threshold(0.85),
		RequiresLLM: true,
	}
}

// Compress keeps the last entries, the share in.PreserveThreshold, and replaces the others by a summary. It is a
// no-op if the others are too few to be worth a summary. The cut moves to where no response is parted from its call.
func (Strategy) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	n := len(in.History)
	if n == 0 {
		return sdk.NoOp(sdk.NoOpEmptyHistory), nil
	}
	tail := int(math.Floor(float64(n) * (1 - in.PreserveThreshold)))
	if tail < summary.Fewest {
		return sdk.NoOp(sdk.NoOpTooFew), nil
	}
	if tail = summary.Cut(in.History, tail); tail < summary.Fewest {
		return sdk.NoOp(sdk.NoOpTooFew), nil
	}
	result, err := summary.Run(ctx, host, in, summary.Range{From: 0, To: tail})
	if err != nil {
		return sdk.CompressResult{}, err
	}
	return result.Compressed(in), nil
}
