// Honest is a strategy plugin made with the SDK, as an author would make it.
package main

import (
	"context"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/serve"
)

type honest struct{}

func (honest) Info() sdk.Info {
	return sdk.Info{
		Name: "honest", Version: "0.1.0", Trigger: sdk.Continuous(0.85), RequiresLLM: true,
		Config: []sdk.ConfigField{{Key: "keep", Type: sdk.Integer, Default: 2, Description: "Entries to keep."}},
	}
}

// Optimize removes every entry that says "chaff", and panics at one that says "panic".
func (honest) Optimize(_ context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	var out sdk.DensityResult
	for i, entry := range in.History {
		switch text, _ := entry.Blocks[0].(sdk.Text); text.Text {
		case "chaff":
			out.Removals = append(out.Removals, i)
		case "panic":
			panic("an entry said so")
		}
	}
	in.Log.Warn("optimized", "removed", len(out.Removals))
	return out, nil
}

// Compress keeps the last entries and puts a summary before them.
func (honest) Compress(ctx context.Context, host sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	var settings struct{ Keep int }
	if err := in.Config.Decode(&settings); err != nil {
		return sdk.CompressResult{}, err
	}
	cut := max(0, len(in.History)-settings.Keep)
	system, err := host.ResolvePrompt(ctx, "compression")
	if err != nil {
		return sdk.CompressResult{}, err
	}
	answer, err := host.Generate(ctx, sdk.GenerateRequest{System: system, Entries: in.History[:cut]}, nil)
	if err != nil {
		return sdk.CompressResult{}, err
	}
	summary := sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Text{Text: answer.Text}}}
	counts, err := host.EstimateTokens(ctx, []sdk.Content{summary})
	if err != nil {
		return sdk.CompressResult{}, err
	}
	return sdk.Applied(append([]sdk.Content{summary}, in.History[cut:]...), sdk.CompressMetadata{
		LLMCallMade: true,
		Counts:      map[string]int64{"summaryTokens": int64(counts[0])},
	}), nil
}

func main() { serve.Strategy(honest{}) }
