package topdown

import (
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk"
)

// Twice the entries must not take more than 2.3 times as long.
func BenchmarkCompress(b *testing.B) {
	for _, entries := range []int{1250, 2500, 5000} {
		b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) {
			in := sdk.CompressInput{
				Call:     sdk.Call{History: gen.Session(entries, 1)},
				TokensIn: func(from, to int) int { return 200 * (to - from) },
			}
			in.CurrentTokens, in.ContextLimit, in.Threshold = 200*entries, 100*entries, 1
			for b.Loop() {
				if r, err := (Strategy{}).Compress(b.Context(), nil, in); err != nil || r.NoOp != "" {
					b.Fatal(r.NoOp, err)
				}
			}
		})
	}
}
