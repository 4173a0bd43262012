// Command clearing is the simplest strategy that holds its own: once the history is over 85 % of the context limit, it
// clears the results of all tool calls but the newest three. Calls, and what people and the AI said, stay as they are.
// LangChain's ClearToolUsesEdit and Anthropic's clear_tool_uses do the same.
package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/prune"
	"github.com/thresh-dev/thresh/sdk/serve"
)

func main() { serve.Strategy(Strategy{}) }

// Strategy is clearing.
type Strategy struct{}

// Info declares the strategy and its setting.
func (Strategy) Info() sdk.Info {
	return sdk.Info{
		Name:        "clearing",
		Version:     "0.1.0",
		Description: "clears the results of old tool calls; needs no LLM",
		Trigger:     sdk.Threshold(0.85),
		Config: []sdk.ConfigField{{
			Key: "keep", Type: sdk.Integer, Default: 3, Minimum: new(0.0),
			Description: "how many of the newest results stay as they came",
		}},
	}
}

// Compress puts a sentence in the place of each old result. What is shorter than the sentence stays.
func (Strategy) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	var settings struct{ Keep int }
	if err := in.Config.Decode(&settings); err != nil {
		return sdk.CompressResult{}, fmt.Errorf("settings: %w", err)
	}
	history := slices.Clone(in.History) // what the host gave is never changed
	results, cleared := 0, int64(0)
	for i, entry := range slices.Backward(history) {
		for j, block := range slices.Backward(entry.Blocks) {
			r, ok := block.(sdk.ToolResponse)
			if !ok {
				continue
			}
			if results++; results <= settings.Keep || entry.Pinned() || len(r.ResultText()) <= len(prune.Pointer) {
				continue
			}
			// A copy of an entry shares its blocks with the original.
			history[i].Blocks = slices.Clone(history[i].Blocks)
			history[i].Blocks[j] = r.WithResultText(prune.Pointer)
			cleared++
		}
	}
	if cleared == 0 {
		return sdk.NoOp(sdk.NoOpNoGain), nil
	}
	fits, err := in.Fits(ctx, host, history)
	return sdk.Applied(history, sdk.CompressMetadata{
		TargetMissed: !fits,
		Counts:       map[string]int64{"resultsCleared": cleared},
	}), err
}
