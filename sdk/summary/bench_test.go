package summary_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/internal/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/summary"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// instant is a host whose model and tokenizer take no time.
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

// Twice the entries must not take more than 2.3 times as long, whether they fit into one request or have to be folded.
func BenchmarkRun(b *testing.B) {
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		b.Fatal(err)
	}
	for name, window := range map[string]int{"one request": 2_000_000, "folded": 100_000} {
		for _, entries := range []int{1250, 2500, 5000} {
			b.Run(fmt.Sprintf("%s/entries=%d", name, entries), func(b *testing.B) {
				in := sdk.CompressInput{
					Call:     sdk.Call{History: gen.Session(entries, 1), Tools: taxonomy, WorkspaceRoot: "/w"},
					TokensIn: func(from, to int) int { return 200 * (to - from) },
					Model:    &sdk.Model{ContextLimit: window}, UserMessageBudget: 20_000,
				}
				for b.Loop() {
					if r, err := summary.Run(b.Context(), instant{}, in, summary.Range{To: entries}); err != nil || r.NoOp != "" {
						b.Fatal(r.NoOp, err)
					}
				}
			})
		}
	}
}
