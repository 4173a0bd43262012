package summary_test

import (
	"context"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/summary"
)

// firstHalf has the older half of a history summarised.
type firstHalf struct{}

func (firstHalf) Info() sdk.Info {
	return sdk.Info{Name: "first-half", Version: "0.1.0", Trigger: sdk.Threshold(0.85), RequiresLLM: true}
}

func (firstHalf) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	to := summary.Cut(in.History, len(in.History)/2)
	if to < summary.Fewest {
		return sdk.NoOp(sdk.NoOpTooFew), nil
	}
	result, err := summary.Run(ctx, host, in, summary.Range{To: to})
	if err != nil {
		return sdk.CompressResult{}, err
	}
	return result.Compressed(in), nil
}

// A strategy chooses the range; the rest is the same for all.
func Example() {
	sdk.Serve(firstHalf{})
}
