// Command estimate is a strategy that has the host count its whole history, time after time, to measure what that costs.
package main

import (
	"context"
	"time"

	"github.com/thresh-dev/thresh/sdk"
)

// rounds is how often the history is counted after the first time.
const rounds = 20

type estimate struct{}

func (estimate) Info() sdk.Info {
	return sdk.Info{Name: "estimate", Version: "1.0.0", Trigger: sdk.Threshold(0.85)}
}

// Compress says in its counts how long the first call took, and the others together, in nanoseconds. A call before them
// makes the connection.
func (estimate) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	if _, err := host.EstimateTokens(ctx, []sdk.Content{{Speaker: sdk.AI}}); err != nil {
		return sdk.CompressResult{}, err
	}
	var first, others time.Duration
	for i := range rounds + 1 {
		start := time.Now()
		if _, err := host.EstimateTokens(ctx, in.History); err != nil {
			return sdk.CompressResult{}, err
		}
		if took := time.Since(start); i == 0 {
			first = took
		} else {
			others += took
		}
	}
	out := sdk.NoOp("measured")
	out.Metadata.Counts = map[string]int64{"first": first.Nanoseconds(), "others": others.Nanoseconds() / rounds}
	return out, nil
}

func main() { sdk.Serve(estimate{}) }
