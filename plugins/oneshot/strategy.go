package main

import (
	"context"
	"math"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/summary"
)

// Strategy is one-shot: a model's summary takes the place of all entries but the newest. It keeps nothing between calls.
type Strategy struct{}

var _ sdk.Strategy = Strategy{}

// Info names the strategy and its trigger (REQ-HD-001.3).
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		Name:        "one-shot",
		Version:     "1.0.0",
		Description: "has a model summarise everything but the newest entries; needs an LLM profile",
		Trigger:     sdk.Threshold(0.85),
		RequiresLLM: true,
	}
}

// Compress leaves the share of entries alone that in.PreserveThreshold names, at the end, and puts a summary in the place of
// the others, if they are enough to be worth it.
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
