package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/internal/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// instant is a host whose model takes no time.
type instant struct{}

func (instant) EstimateTokens(_ context.Context, entries []sdk.Content) ([]int, error) {
	counts := make([]int, len(entries))
	for i := range entries {
		counts[i] = sdktest.Characters(entries[i : i+1])
	}
	return counts, nil
}

func (instant) Generate(context.Context, sdk.GenerateRequest, func(string)) (sdk.Generation, error) {
	return sdk.Generation{Text: snapshot}, nil
}

func (instant) ResolvePrompt(context.Context, string) (string, error) {
	return "Write a snapshot.", nil
}

// All but the model's time: twice the entries must not take more than 2.3 times as long. 5,000 are a million tokens.
func BenchmarkCompress(b *testing.B) {
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, entries := range []int{1250, 2500, 5000} {
		b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) {
			in := sdk.CompressInput{
				Call:                 sdk.Call{History: gen.Session(entries, 1), Tools: taxonomy, WorkspaceRoot: "/w"},
				ContextLimit:         100 * entries,
				Threshold:            1,
				PreserveThreshold:    0.4,
				TopPreserveThreshold: 0.2,
				TokensIn:             func(from, to int) int { return 200 * (to - from) },
			}
			for b.Loop() {
				if r, err := (withModel{window: 200_000}).Compress(b.Context(), instant{}, in); err != nil || r.NoOp != "" {
					b.Fatal(r.NoOp, err)
				}
			}
		})
	}
}
