package highdensity

import (
	"context"
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/vectors"
	"github.com/thresh-dev/thresh/sdk"
)

// flatHost counts every entry as ten tokens, at no cost.
type flatHost struct{ sdk.Host }

func (flatHost) EstimateTokens(_ context.Context, entries []sdk.Content) ([]int, error) {
	counts := make([]int, len(entries))
	for i := range counts {
		counts[i] = 10
	}
	return counts, nil
}

// Twice the entries must not take more than 2.3 times as long.
func BenchmarkCompress(b *testing.B) {
	for _, entries := range []int{1250, 2500, 5000, 100_000} {
		b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) {
			in := sdk.CompressInput{
				Call:     sdk.Call{History: gen.Session(entries, 1), Tools: vectors.Tools(b)},
				TokensIn: func(from, to int) int { return 200 * (to - from) },
			}
			in.ContextLimit = entries // few enough that almost everything before the tail is dropped
			in.Threshold, in.PreserveThreshold = 0.5, 0.4
			for b.Loop() {
				if r, err := (Strategy{}).Compress(b.Context(), flatHost{}, in); err != nil || r.NoOp != "" {
					b.Fatal(r.NoOp, err)
				}
			}
		})
	}
}
