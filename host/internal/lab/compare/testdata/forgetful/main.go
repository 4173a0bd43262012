// Command forgetful is a bad strategy: it takes every result of a tool away as soon as another stands behind it.
package main

import (
	"context"
	"slices"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/serve"
)

type forgetful struct{}

func (forgetful) Info() sdk.Info {
	return sdk.Info{Name: "forgetful", Version: "1.0.0", Trigger: sdk.Continuous(0.85)}
}

const gone = "[gone]"

func (forgetful) Optimize(_ context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	out := sdk.DensityResult{Replacements: map[int]sdk.Content{}}
	kept := false
	for i, entry := range slices.Backward(in.History) {
		if entry.Speaker != sdk.Tool {
			continue
		}
		if !kept {
			kept = true
			continue
		}
		blocks, changed := slices.Clone(entry.Blocks), false
		for j, b := range blocks {
			if r, ok := b.(sdk.ToolResponse); ok && r.ResultText() != gone {
				blocks[j], changed = r.WithResultText(gone), true
			}
		}
		if changed {
			entry.Blocks = blocks
			out.Replacements[i] = entry
		}
	}
	return out, nil
}

func (forgetful) Compress(context.Context, sdk.Host, sdk.CompressInput) (sdk.CompressResult, error) {
	return sdk.NoOp(sdk.NoOpTailCoversAll), nil
}

func main() { serve.Strategy(forgetful{}) }
