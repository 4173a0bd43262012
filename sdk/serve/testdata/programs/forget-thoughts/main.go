package main

import (
	"context"
	"slices"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/serve"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// forgetThoughts removes the model's unsigned reasoning from all entries but the last 10.
type forgetThoughts struct{}

func (forgetThoughts) Info() sdk.Info {
	return sdk.Info{Name: "forget-thoughts", Version: "0.1.0", Trigger: sdk.Continuous(0.9)}
}

func (forgetThoughts) Optimize(_ context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	result := sdk.DensityResult{Replacements: map[int]sdk.Content{}}
	for i, entry := range in.History[:max(0, len(in.History)-10)] {
		kept := slices.DeleteFunc(slices.Clone(entry.Blocks), isThought)
		if len(kept) > 0 && len(kept) < len(entry.Blocks) && !entry.Pinned() {
			entry.Blocks = kept
			result.Replacements[i] = entry
		}
	}
	return result, nil
}

func (forgetThoughts) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	kept := turns.KeepLast(in.History, 50)
	if len(kept) == len(in.History) {
		return sdk.NoOp(sdk.NoOpTailCoversAll), nil
	}
	fits, err := in.Fits(ctx, host, kept)
	return sdk.Applied(kept, sdk.CompressMetadata{BottomPreserved: new(len(kept)), TargetMissed: !fits}), err
}

func isThought(b sdk.Block) bool {
	t, ok := b.(sdk.Thinking)
	return ok && t.Signature == "" && !t.Extra.Has("encryptedContent")
}

func main() { serve.Strategy(forgetThoughts{}) }
