package summarytest

import (
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Input is the input of a Compress: a generated session of so many entries, all tool presets, and a model with a
// context window of so many tokens. 5,000 entries are about a million tokens.
func Input(b *testing.B, entries, window int) sdk.CompressInput {
	b.Helper()
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		b.Fatal(err)
	}
	in := sdk.CompressInput{
		Call: sdk.Call{History: gen.Session(entries, 1), Tools: taxonomy},
		CompressParams: sdk.CompressParams{
			CompressSettings: sdk.DefaultCompressSettings(),
			Threshold:        1,
			Model:            &sdk.Model{Name: "m", ContextLimit: window},
		},
		// A constant per entry, so that the tokenizer's time is not measured.
		TokensIn: func(from, to int) int { return 200 * (to - from) },
	}
	in.WorkspaceRoot = "/w"
	// Half of the history's size: compression is always due.
	in.ContextLimit = 100 * entries
	return in
}

// Benchmark measures a Compress without the model's time. Doubling the entries must not take more than 2.3 times as
// long.
func Benchmark(b *testing.B, s sdk.Strategy) {
	for _, entries := range []int{1250, 2500, 5000} {
		b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) {
			in := Input(b, entries, 200_000)
			for b.Loop() {
				if r, err := s.Compress(b.Context(), Instant{}, in); err != nil || r.NoOp != "" {
					b.Fatal(r.NoOp, err)
				}
			}
		})
	}
}
