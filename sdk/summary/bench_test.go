package summary_test

import (
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/summarytest"
	"github.com/thresh-dev/thresh/sdk/summary"
)

// Twice the entries must not take more than 2.3 times as long, whether they fit into one request or have to be folded.
func BenchmarkRun(b *testing.B) {
	for name, window := range map[string]int{"one request": 2_000_000, "folded": 100_000} {
		for _, entries := range []int{1250, 2500, 5000} {
			b.Run(fmt.Sprintf("%s/entries=%d", name, entries), func(b *testing.B) {
				in := summarytest.Input(b, entries, window)
				for b.Loop() {
					if r, err := summary.Run(b.Context(), summarytest.Instant{}, in,
						summary.Range{To: entries}); err != nil ||
						r.NoOp != "" {
						b.Fatal(r.NoOp, err)
					}
				}
			})
		}
	}
}
