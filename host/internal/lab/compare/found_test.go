package compare

import (
	"math"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// A search is one more request over the prompt; what it found is carried until the next rewrite.
func TestSearchesArePaid(t *testing.T) {
	l := &pricing.List{Input: 3, CacheRead: 0.3, CacheWrite: 3.75, Output: 15}
	b := bill{costs: make([]Cost, 1), by: []*pricing.List{l}, sent: 10_000}
	b.searches(2, 900)
	want := (20_000*0.3 + 1100*3.75 + 200*15) / 1e6
	if c := b.costs[0]; math.Abs(c.Searches-want) > 1e-12 || c.USD != c.Searches || b.searched != 1100 {
		t.Errorf("got %+v, %d tokens carried; want %v USD", c, b.searched, want)
	}
}
