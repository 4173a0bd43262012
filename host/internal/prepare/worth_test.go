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
		usd += w.carry*(w.beside+size+found) + w.extra(size, 0)
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
		"dear from 50,000 on": {dearFrom(50_000), 15_000, 1000, true},
		"dear from 80,000 on": {dearFrom(80_000), 15_000, 5000, true},
		"dear, no way back":   {dearFrom(60_000), 15_000, 1000, false},
		"dear, always":        {dearFrom(10_000), 15_000, 1000, true},
	} {
		t.Run(name, func(t *testing.T) {
			const most = 170_000
			w := newWorth(&c.list, same)
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

func same(tokens int) int { return tokens }

// dearFrom is a list by which longer prompts cost twice as much.
func dearFrom(tokens int) pricing.List {
	return pricing.List{Input: 3, CacheRead: 0.3, CacheWrite: 3.75, Output: 15, Over: []pricing.Over{{Tokens: tokens,
		Rates: pricing.Rates{Input: 6, CacheRead: 0.6, CacheWrite: 7.5, Output: 22.5}}}}
}

// A rewrite that keeps requests under the bound from which they cost more gains what they would: it is held against two
// made sessions, request by request.
func TestStayingUnderTheBoundIsWorthMore(t *testing.T) {
	const horizon, growth, beside = 20, 1000, 10_000
	list := dearFrom(100_000)
	bill := func(size, read int) (usd float64) { // of the next request and those of the horizon
		for n := range horizon + 1 {
			l := list.For(pricing.Terms{Tokens: beside + size})
			if n > 0 {
				read = size
			}
			usd += (float64(beside+read)*l.CacheRead + float64(size-read)*l.CacheWrite) / million
			if n > 0 || horizon == 0 {
				size += growth
			}
		}
		return usd
	}
	for _, c := range []struct {
		name          string
		before, after int
		pays          bool // and whether it would without the bound
		paysFlat      bool
	}{
		{"far below the bound", 50_000, 44_000, false, false},
		{"about to cross it", 88_000, 70_000, true, false},
		{"over it", 120_000, 80_000, true, true},
		{"over it, and still", 150_000, 145_000, false, false},
	} {
		prefix := c.after / 2
		e := cacheEffect{cached: c.before, prefix: prefix, rewritten: c.after - prefix, removed: c.before - c.after}
		w := newWorth(&list, same)
		w.beside, w.growth = beside, growth
		gain := w.gain(e, c.before, c.after, horizon)
		want := bill(c.before, c.before) - bill(c.after, prefix)
		if math.Abs(gain-want) > 0.1*math.Abs(want)+0.01 || (gain > 0) != c.pays {
			t.Errorf("%s: gains %.4f USD, the sessions differ by %.4f", c.name, gain, want)
		}
		w.bound = 0
		if flat := w.gain(e, c.before, c.after, horizon); (flat > 0) != c.paysFlat {
			t.Errorf("%s: without the bound it gains %.4f USD", c.name, flat)
		}
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
