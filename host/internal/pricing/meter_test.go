package pricing_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/pricing"
)

var (
	start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	// claude reads at 0.1 and writes at 1.25 of 3 USD.
	claude = pricing.List{Name: "claude", Input: 3, CacheRead: 0.3, CacheWrite: 3.75, CacheTTL: 5 * time.Minute,
		CacheMinimum: 1000}
	// openai reads at 0.1 of 1 USD and writes for nothing.
	openai = pricing.List{Name: "openai", Input: 1, CacheRead: 0.1, CacheTTL: 10 * time.Minute, CacheMinimum: 1000}
	plain  = pricing.List{Name: "plain", Input: 2}
)

// after is a time in minutes.
func after(minutes float64) time.Time {
	return start.Add(time.Duration(minutes * float64(time.Minute)))
}

// The USD of each case is computed by hand, in the comment next to it.
func TestMeter(t *testing.T) {
	for name, c := range map[string]struct {
		list     pricing.List
		requests []pricing.Request
		want     []pricing.Cost
	}{
		"append only: the last prompt is read, what is new is written": {claude, []pricing.Request{
			{Tokens: 10_000}, {Stable: 10_000, Tokens: 12_000}, {Stable: 12_000, Tokens: 12_500},
		}, []pricing.Cost{
			{CacheWrite: 10_000, USD: 0.0375},                    // 10000 × 3.75 / 1e6
			{CacheRead: 10_000, CacheWrite: 2_000, USD: 0.0105},  // 10000 × 0.3 + 2000 × 3.75 = 3000 + 7500
			{CacheRead: 12_000, CacheWrite: 500, USD: 0.005_475}, // 12000 × 0.3 + 500 × 3.75 = 3600 + 1875
		}},
		"a change at the top: all is written again": {claude, []pricing.Request{
			{Tokens: 10_000}, {Stable: 0, Tokens: 9_000}, {Stable: 9_000, Tokens: 9_000},
		}, []pricing.Cost{
			{CacheWrite: 10_000, USD: 0.0375},
			{CacheWrite: 9_000, USD: 0.033_75}, // 9000 × 3.75
			{CacheRead: 9_000, USD: 0.0027},    // 9000 × 0.3: the new prompt is in the cache
		}},
		"a change in the middle: what stands before it is read": {claude, []pricing.Request{
			{Tokens: 10_000}, {Stable: 4_000, Tokens: 8_000},
		}, []pricing.Cost{
			{CacheWrite: 10_000, USD: 0.0375},
			{CacheRead: 4_000, CacheWrite: 4_000, USD: 0.0162}, // 4000 × 0.3 + 4000 × 3.75 = 1200 + 15000
		}},
		"cold: after more than the time to live nothing is left": {claude, []pricing.Request{
			{Tokens: 10_000, At: after(0)}, {Stable: 10_000, Tokens: 10_000, At: after(5)},
			{Stable: 10_000, Tokens: 10_000,
				At: after(10.1)},
		}, []pricing.Cost{
			{CacheWrite: 10_000, USD: 0.0375},
			{CacheRead: 10_000, USD: 0.003},   // five minutes are not more than five
			{CacheWrite: 10_000, USD: 0.0375}, // 5.1 minutes after the last use
		}},
		"times that are not known: the cache is warm": {claude, []pricing.Request{
			{Tokens: 10_000, At: after(0)}, {Stable: 10_000, Tokens: 10_000},
			{Stable: 10_000, Tokens: 10_000, At: after(99)},
		}, []pricing.Cost{
			{CacheWrite: 10_000, USD: 0.0375}, {CacheRead: 10_000, USD: 0.003}, {CacheRead: 10_000, USD: 0.003},
		}},
		"no cache: every token costs the same": {plain, []pricing.Request{
			{Tokens: 10_000}, {Stable: 10_000, Tokens: 11_000},
		}, []pricing.Cost{
			{Uncached: 10_000, USD: 0.02}, // 10000 × 2
			{Uncached: 11_000, USD: 0.022},
		}},
		"no fee for writing: what is not read costs what input costs": {openai, []pricing.Request{
			{Tokens: 10_000}, {Stable: 10_000, Tokens: 12_000}, {Stable: 3_000, Tokens: 5_000},
		}, []pricing.Cost{
			{Uncached: 10_000, USD: 0.01},                      // 10000 × 1
			{CacheRead: 10_000, Uncached: 2_000, USD: 0.003},   // 10000 × 0.1 + 2000 × 1
			{CacheRead: 3_000, Uncached: 2_000, USD: 0.002_30}, // 3000 × 0.1 + 2000 × 1
		}},
		"below the minimum nothing is cached": {claude, []pricing.Request{
			{Tokens: 999}, {Stable: 999, Tokens: 1_500}, {Stable: 900, Tokens: 2_000}, {Stable: 2_000, Tokens: 2_000},
		}, []pricing.Cost{
			{Uncached: 999, USD: 0.002_997},     // 999 × 3: too short to be written
			{CacheWrite: 1_500, USD: 0.00562_5}, // 1500 × 3.75: nothing was there to be read
			{CacheWrite: 2_000, USD: 0.0075},    // 2000 × 3.75: 900 in common are too few
			{CacheRead: 2_000, USD: 0.0006},
		}},
		"what is said to be stable is bounded by what there is": {claude, []pricing.Request{
			{Stable: 5_000, Tokens: 2_000}, {Stable: 5_000, Tokens: 3_000}, {Stable: -1, Tokens: -1},
		}, []pricing.Cost{
			{CacheWrite: 2_000, USD: 0.0075},
			{CacheRead: 2_000, CacheWrite: 1_000, USD: 0.004_35}, // 2000 × 0.3 + 1000 × 3.75
			{},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			m := pricing.NewMeter(&c.list)
			var got []pricing.Cost
			for _, r := range c.requests {
				got = append(got, m.Request(r))
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever is asked, every token is counted once, and a cache never makes the whole dearer than writing all of it.
func TestMeterCountsEveryTokenOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SampledFrom([]pricing.List{claude, openai, plain}).Draw(t, "list")
		m := pricing.NewMeter(&list)
		for range rapid.IntRange(1, 20).Draw(t, "requests") {
			r := pricing.Request{Stable: rapid.IntRange(0, 5_000).Draw(t, "stable"),
				Tokens: rapid.IntRange(0, 5_000).Draw(t, "tokens")}
			c := m.Request(r)
			if c.CacheRead+c.CacheWrite+c.Uncached != r.Tokens || c.CacheRead > r.Stable {
				t.Fatalf("%+v of %+v", c, r)
			}
			if most := float64(r.Tokens) * max(list.Write(), list.Input) * 1e-6; c.USD > most+1e-12 || c.USD < 0 ||
				math.IsNaN(c.USD) {
				t.Fatalf("%g USD of at most %g", c.USD, most)
			}
		}
	})
}
