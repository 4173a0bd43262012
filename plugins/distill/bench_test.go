package distill

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// counter counts as a host does, about four bytes a token, at little cost.
type counter struct{ sdk.Host }

func (counter) EstimateTokens(_ context.Context, entries []sdk.Content) ([]int, error) {
	counts := make([]int, len(entries))
	for i := range entries {
		counts[i] = sdktest.Characters(entries[i : i+1])
	}
	return counts, nil
}

func compress(b *testing.B, history []sdk.Content) {
	b.Helper()
	sums := []int{0}
	for i := range history {
		sums = append(sums, sums[i]+sdktest.Characters(history[i:i+1]))
	}
	in := sdk.CompressInput{TokensIn: func(from, to int) int { return sums[to] - sums[from] }}
	in.History, in.Tools, in.Log = history, taxonomy, slog.New(slog.DiscardHandler)
	in.ContextLimit, in.Reason, in.Threshold = sums[len(history)], sdk.ReasonManual, threshold
	in.CurrentTokens = in.ContextLimit
	b.ReportAllocs()
	for b.Loop() {
		if r, err := (Strategy{}).Compress(b.Context(), counter{}, in); err != nil || r.NoOp != "" {
			b.Fatal(r.NoOp, err)
		}
	}
	b.ReportMetric(float64(in.ContextLimit), "tokens")
}

// A made session of about 60,000 tokens, and others of twice and eight times that. The goal is 8 ms for the first;
// twice the tokens must not take more than 2.3 times as long.
func BenchmarkCompress(b *testing.B) {
	for _, entries := range []int{300, 600, 2400} {
		b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) { compress(b, gen.Session(entries, 1)) })
	}
}

// Results that are made to be dear. Twice the bytes must not take more than 2.3 times as long.
func BenchmarkCompressWorst(b *testing.B) {
	for name, unit := range map[string]string{
		"one line": "x", "newlines": "\n", "quotes": `"`, "words": "a_b1 ", "paths": "a/b:1:", "dashes": "a1-",
	} {
		for _, bytes := range []int{1 << 18, 1 << 19} {
			b.Run(fmt.Sprintf("%s/%d", name, bytes), func(b *testing.B) {
				history := append(work(2), call("d", "bash", `{"command":"x"}`),
					answer("d", "bash", strings.Repeat(unit, bytes/len(unit))))
				compress(b, append(history, work(20)[1:]...))
			})
		}
	}
}

// A turn that adds one exchange to a history of about 60,000 tokens, with a memo and without.
func BenchmarkOptimize(b *testing.B) {
	for name, unchanged := range map[string]int{"turn": 300, "full": 0} {
		b.Run(name, func(b *testing.B) {
			in := sdk.OptimizeInput{}
			in.Tools, in.Log = taxonomy, slog.New(slog.DiscardHandler)
			all := gen.Session(303, 1)
			for b.Loop() {
				in.Memo = nil
				if unchanged > 0 {
					b.StopTimer()
					in.Memo, in.History, in.Unchanged = new(sdk.Memo), all[:300], 0
					_, _ = Strategy{}.Optimize(b.Context(), in)
					b.StartTimer()
				}
				in.History, in.Unchanged = all, unchanged
				if _, err := (Strategy{}).Optimize(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
