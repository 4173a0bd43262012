package main

import (
	"context"
	"fmt"
	"math"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/summary"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Strategy is middle-out: a model's summary takes the place of the entries between the oldest and the newest. It keeps
// nothing between calls.
type Strategy struct{}

var _ sdk.Strategy = Strategy{}

// Info names the strategy and its trigger (REQ-HD-001.3).
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		Name:        "middle-out",
		Version:     "1.0.0",
		Description: "has a model summarise the middle of the history; needs an LLM profile",
		Trigger:     sdk.Threshold(0.85),
		RequiresLLM: true,
	}
}

// Compress leaves the shares of entries alone that in.TopPreserveThreshold and in.PreserveThreshold name, and puts a
// summary in the place of what is between them, if that is enough to be worth it.
func (Strategy) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	r, reason, err := middle(ctx, host, in)
	if err != nil {
		return sdk.CompressResult{}, err
	}
	if reason != "" {
		return sdk.NoOp(reason), nil
	}
	result, err := summary.Run(ctx, host, in, r)
	if err != nil {
		return sdk.CompressResult{}, err
	}
	return result.Compressed(in), nil
}

// middle returns the range to be summarised, or the reason for which there is none.
func middle(ctx context.Context, host sdk.Host, in sdk.CompressInput) (summary.Range, sdk.NoOpReason, error) {
	none := summary.Range{}
	n := len(in.History)
	if n == 0 {
		return none, sdk.NoOpEmptyHistory, nil
	}
	top := int(math.Ceil(float64(n) * in.TopPreserveThreshold))
	bottom := int(math.Floor(float64(n) * (1 - in.PreserveThreshold)))
	if bottom-top < summary.Fewest {
		return none, sdk.NoOpTooFew, nil
	}
	top, bottom = summary.Cut(in.History, top), summary.Cut(in.History, bottom)
	if bottom-top < summary.Fewest {
		return none, sdk.NoOpTooFew, nil
	}
	last := summary.LastMessage(in.History)
	if last < top || last >= bottom {
		return summary.Range{From: top, To: bottom}, "", nil
	}
	short, err := isShort(ctx, host, in, last)
	if err != nil || !short { // a long one is kept word for word beside the summary
		return summary.Range{From: top, To: bottom}, "", err
	}
	if bottom = turns.CutBackward(in.History, last); bottom-top < summary.Fewest {
		return none, sdk.NoOpShrunkBelowMinimum, nil
	}
	return summary.Range{From: top, To: bottom}, "", nil
}

// shortMessage is what a message counts at most, in tokens and without its attachments, that moves to the bottom.
const shortMessage = 500

func isShort(ctx context.Context, host sdk.Host, in sdk.CompressInput, i int) (bool, error) {
	if in.Tokens(i, i+1) < shortMessage {
		return true, nil
	}
	text, ok := summary.Flatten(in.History[i])
	if !ok {
		return true, nil
	}
	counts, err := host.EstimateTokens(ctx, []sdk.Content{text})
	if err != nil {
		return false, fmt.Errorf("counting the last message: %w", err)
	}
	if len(counts) != 1 {
		return false, fmt.Errorf("the host counted %d entries, but was asked for 1", len(counts))
	}
	return counts[0] < shortMessage, nil
}
