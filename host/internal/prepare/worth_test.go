package prepare

import (
	"math"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// course is what a request of a made session costs on average, request by request: it grows evenly and is rewritten to
// left tokens whenever it has full.
func (w worth) course(left, full float64) (usd float64) {
	const requests = 20_000
	size, found := left, 0.0
	for range requests {
		usd += w.carry * (w.beside + size + found)
		if w.recall {
			n := reach / (reach + size)
			usd += n * (w.carry*(w.beside+size) + w.write*(asked+foundTokens) + w.output*asked)
			found += n * (asked + foundTokens)
		}
		if size += w.growth; size > full {
			size, found = left, 0
			usd += (w.write - w.carry) * left
		}
	}
	return usd / requests
}

const foundTokens = found

// The moments and depths of a made session are tried one by one: no other is much cheaper than the one that is chosen.
func TestMomentAndDepthAreWhereAMadeSessionCostsLeast(t *testing.T) {
	sonnet := pricing.List{Input: 3, CacheRead: 0.3, CacheWrite: 3.75, Output: 15}
	for name, c := range map[string]struct {
		list           pricing.List
		beside, growth float64
		recall         bool
	}{
		"reads at a tenth":    {sonnet, 15_000, 1000, true},
		"a large system":      {sonnet, 60_000, 1000, true},
		"slow growth":         {sonnet, 15_000, 200, true},
		"fast growth":         {sonnet, 15_000, 5000, true},
		"writes at the input": {pricing.List{Input: 2, CacheRead: 0.5, Output: 8}, 15_000, 1000, true},
		"without a cache":     {pricing.List{Input: 2, Output: 8}, 15_000, 1000, true},
		"no way back":         {sonnet, 15_000, 1000, false},
	} {
		t.Run(name, func(t *testing.T) {
			const most = 170_000
			w := newWorth(&c.list)
			w.beside, w.growth, w.recall, w.requests = c.beside, c.growth, c.recall, math.MaxInt32
			for _, left := range []float64{5000, 15_000, 40_000} {
				best := math.Inf(1)
				for full := left + c.growth; full <= most; full += c.growth {
					best = min(best, w.course(left, full))
				}
				if got := w.course(left, w.moment(left, most)); got > 1.03*best {
					t.Errorf("left %g: at %.0f a request costs %.5f USD, the best %.5f", left, w.moment(left, most), got, best)
				}
			}
			if !c.recall {
				return
			}
			best := math.Inf(1)
			for left := float64(reach); left < 60_000; left *= 1.1 {
				for full := left + c.growth; full <= most; full = max(full*1.1, full+c.growth) {
					best = min(best, w.course(left, full))
				}
			}
			left := w.depth(most)
			if got := w.course(left, w.moment(left, most)); got > (1+slack+0.03)*best {
				t.Errorf("depth %.0f: a request costs %.5f USD, the best %.5f", left, got, best)
			}
		})
	}
}

// Without a way back the best moment has a closed form: left + √(2·(write−carry)·left·growth/carry).
func TestTheMomentIsTheSquareRoot(t *testing.T) {
	w := worth{carry: 1, write: 12.5, growth: 1000, requests: math.MaxInt32}
	if got, want := w.moment(15_000, 200_000), 15_000+math.Sqrt(2*11.5*15_000*1000); math.Abs(got-want) > 10 {
		t.Errorf("got %.0f, want %.0f", got, want)
	}
	// A session that may end soon must have it back in half the requests that are expected.
	w.requests = 10
	if got, want := w.moment(15_000, 200_000), 15_000+11.5*15_000/5; math.Abs(got-want) > 10 {
		t.Errorf("with 10 requests to come: got %.0f, want %.0f", got, want)
	}
}
