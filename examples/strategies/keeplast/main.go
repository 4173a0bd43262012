// Command keeplast is the strategy that README.md shows.
package main

import (
	"context"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/serve"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// keepLast drops all but the last 50 entries when the history is over the threshold.
type keepLast struct{}

func (keepLast) Info() sdk.Info {
	return sdk.Info{Name: "keep-last", Version: "0.1.0", Trigger: sdk.Threshold(0.85)}
}

func (keepLast) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	kept := turns.KeepLast(in.History, 50)
	if len(kept) == len(in.History) {
		return sdk.NoOp(sdk.NoOpTailCoversAll), nil
	}
	fits, err := in.Fits(ctx, host, kept)
	return sdk.Applied(kept, sdk.CompressMetadata{BottomPreserved: new(len(kept)), TargetMissed: !fits}), err
}

func main() { serve.Strategy(keepLast{}) }
