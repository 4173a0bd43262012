package middleout

import (
	"context"
	"fmt"
	"math"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/summary"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Strategy is middle-out: an LLM's summary replaces the entries between the oldest and the newest. It has no state.
type Strategy struct{}

var _ sdk.Strategy = Strategy{}

// Info names the strategy. Its trigger is a threshold: the host calls Compress from 85 % of the context limit on.
// RequiresLLM makes the host demand an LLM profile before the first turn, not at the first Compress.
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		Name:        "middle-out",
		Version:     "1.0.0",
		Description: "has a model summarise the middle of the history; needs an LLM profile",
		Trigger:     sdk.Threshold(0.85),
		RequiresLLM: true,
	}
}

// Compress keeps the first entries, the share in.TopPreserveThreshold, and the last, the share in.PreserveThreshold.
// A summary replaces what is between them. It is a no-op if that is too little to be worth a summary.
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

// middle returns the range to summarise, or the reason why there is none. Both ends move to where no response is
// parted from its call.
//
// The last message of a person is the task at hand. If it falls into the range and is short, the range ends before
// it. A long one is summarised with the rest, and sdk/summary repeats it word for word next to the summary.
func middle(ctx context.Context, host sdk.Host, in sdk.CompressInput) (summary.Range, sdk.NoOpReason, error) {
	none := summary.Range{}
	n := len(in.History)
	if n == 0 {
		return none, sdk.NoOpEmptyHistory, nil
	}
	// The beginning is rounded up and the end is kept from the rounded-down cut on: both keep an entry more in doubt.
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
	if err != nil || !short {
		return summary.Range{From: top, To: bottom}, "", err
	}
	if bottom = turns.CutBackward(in.History, last); bottom-top < summary.Fewest {
		return none, sdk.NoOpShrunkBelowMinimum, nil
	}
	return summary.Range{From: top, To: bottom}, "", nil
}

// shortMessage is the size, in tokens without attachments, below which the last message moves out of the range. Up to
// that, keeping it word for word costs less than a summary that loses part of the task.
const shortMessage = 500

// isShort reports whether entry i counts less than shortMessage. It asks the host to count only if attachments may have
// made the difference.
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
