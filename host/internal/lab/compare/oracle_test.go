package compare

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/pricing"
)

var cached = &pricing.List{Input: 10, CacheRead: 1, CacheWrite: 12.5}

func warm(int, *pricing.List) bool { return false }

// Sessions of which the best answer can be told: the history grows by 10 tokens with each of ten requests.
func TestHindsight(t *testing.T) {
	const n = 10
	for name, tt := range map[string]struct {
		least func(grown float64) float64
		list  *pricing.List
		hard  float64
		want  float64 // in prices of a million tokens
	}{
		"nothing can go":            {func(grown float64) float64 { return grown }, cached, 1e9, n*10*12.5 + 45*10},
		"all but the newest can go": {func(float64) float64 { return 10 }, cached, 1e9, n * 10 * 12.5},
		"no cache":                  {func(float64) float64 { return 10 }, &pricing.List{Input: 10}, 1e9, n * 10 * 10},
		// Even of the second request, 15 tokens would be written again, and 5 not read by eight.
		"too little can go": {func(grown float64) float64 { return grown - 5 }, cached, 1e9, n*10*12.5 + 45*10},
		// The sixth request is over the limit: then 10 tokens are left.
		"the limit": {func(grown float64) float64 {
			if grown == 60 {
				return 10
			}
			return grown
		}, cached, 50, 5*125 + 10*10 + 125 + 4*125 + 10*10},
	} {
		h := hindsight{cold: warm}
		for i := range n {
			grown := float64(10 * (i + 1))
			h.grown, h.begins, h.least = append(h.grown, grown), append(h.begins, i == 0), append(h.least, tt.least(grown))
		}
		if tt.list.CacheRead == 0 {
			h.cold = func(int, *pricing.List) bool { return true }
		}
		if got, _ := h.context(0, n, tt.list, tt.hard); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// No choice of moments is better than the one that is found.
func TestNoMomentsAreBetterThanHindsights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "requests")
		h := hindsight{beside: float64(rapid.IntRange(0, 50).Draw(t, "beside"))}
		cold := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "cold")
		h.cold = func(n int, _ *pricing.List) bool { return cold[n] }
		total := 0.0
		for i := range n {
			total += float64(rapid.IntRange(0, 100).Draw(t, "grows"))
			least := float64(rapid.IntRange(0, 400).Draw(t, "least"))
			h.grown, h.least, h.begins = append(h.grown, total), append(h.least, min(least, total)), append(h.begins, i == 0)
		}
		hard := float64(rapid.IntRange(50, 1000).Draw(t, "hard"))
		best := math.Inf(1)
		for moments := range 1 << (n - 1) {
			usd, size, last := 0.0, 0.0, 0.0
			for i := range n {
				rewritten := i == 0 || moments>>(i-1)&1 == 1
				switch {
				case i == 0:
					size = h.grown[0]
				case rewritten:
					size = h.least[i]
				default:
					last = size
					size += h.grown[i] - h.grown[i-1]
				}
				if !rewritten && h.beside+size > hard {
					usd = math.Inf(1)
				}
				switch {
				case i == 0 || cold[i]:
					usd += cached.CacheWrite * (h.beside + size)
				case rewritten:
					usd += cached.CacheRead*h.beside + cached.CacheWrite*size
				default:
					usd += cached.CacheRead*(h.beside+last) + cached.CacheWrite*(size-last)
				}
			}
			best = min(best, usd)
		}
		if got, _ := h.context(0, n, cached, hard); math.Abs(got-best) > 1e-6*best {
			t.Fatalf("%v, and another choice costs %v", got, best)
		}
	})
}
