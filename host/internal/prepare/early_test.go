package prepare_test

import (
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"pgregory.net/rapid"
)

// The context limit is 200,000 tokens and the threshold half of it; each request adds 2000, and the strategy keeps the
// newest 6000.
func TestWhereTheModelCanSearchACompressIsMadeOnceItPays(t *testing.T) {
	low := 0.4
	for name, c := range map[string]struct {
		recall    bool
		prices    *pricing.List
		share     float64
		threshold *float64
		pending   int     // tokens besides the history
		from, to  float64 // tokens of the history at which the first one is made
		told      bool    // the strategy is told a depth
		cadence   outcome.Cadence
	}{
		"with a way back":              {true, cached, 0.05, nil, 0, 10_000, 40_000, true, outcome.CadencePriced},
		"not before the share":         {true, cached, 0.35, nil, 0, 70_000, 72_000, true, outcome.CadencePriced},
		"not after the threshold":      {true, cached, 0.5, nil, 50_000, 50_000, 52_000, true, outcome.CadencePriced},
		"without one":                  {false, cached, 0.05, nil, 0, 100_000, 102_000, false, outcome.CadencePriced},
		"without prices":               {true, nil, 0.05, nil, 0, 100_000, 102_000, false, outcome.CadencePriced},
		"not declared":                 {true, cached, 0, nil, 0, 100_000, 102_000, true, outcome.CadencePriced},
		"another cadence":              {true, cached, 0.05, nil, 0, 100_000, 102_000, false, outcome.CadenceGated},
		"a user has set the threshold": {true, cached, 0.05, &low, 0, 80_000, 82_000, true, outcome.CadencePriced},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(0, &scripted{mode: sdk.ModeThreshold, compress: keepLast(600)})
			f.req.Settings.ContextLimit, f.req.Settings.Prices = 200_000, c.prices
			f.req.Settings.Threshold, f.req.Settings.Cadence = c.threshold, c.cadence
			f.req.Strategy = asksEarly{f.strategy, c.share}
			f.req.Recall, f.req.Pending = c.recall, c.pending
			for range 60 {
				add(f.history, says(content.AI, 200)) // of 10 tokens each
				if got := f.prepare(t).Compress; got.Reason == "" || got.Kind == "no-op" {
					continue
				}
				call := f.strategy.compresses[len(f.strategy.compresses)-1]
				if n := float64(call.CurrentTokens); n < c.from || n > c.to {
					t.Errorf("compressed at %g tokens, not between %g and %g", n, c.from, c.to)
				}
				if (call.Depth > 0) != c.told || call.Depth > 20_000 {
					t.Errorf("told to leave %d tokens", call.Depth)
				}
				return
			}
			t.Error("never compressed")
		})
	}
}

// The context limit is 200,000 tokens, the threshold half of it, and the strategy may declare to be asked from 70,000
// on. Prices say so from 40,000 on; a cold cache says so anywhere.
func TestBelowTheThresholdOnlyWhatIsDeclaredAndPaysIsAsked(t *testing.T) {
	half := 0.5
	asked := func(reason sdk.CompressReason, from string) [2]string { return [2]string{string(reason), from} }
	const declared, set = "strategy default", "setting"
	for name, c := range map[string]struct {
		share         float64
		setting       *float64
		recall        bool // prices say when
		pause         time.Duration
		below         [2]string // at 60,000 tokens: why it is asked, and the source of the threshold
		between, over [2]string // at 80,000 and 120,000
	}{
		"not declared": {0, nil, false, 0,
			asked("", declared), asked("", declared), asked(sdk.ReasonThreshold, declared)},
		"not declared, prices": {0, nil, true, 0,
			asked("", declared), asked("", declared), asked(sdk.ReasonThreshold, declared)},
		"not declared, cold": {0, nil, false, time.Hour,
			asked("", declared), asked("", declared), asked(sdk.ReasonThreshold, declared)},
		"declared": {0.35, nil, false, 0,
			asked("", declared), asked("", declared), asked(sdk.ReasonThreshold, declared)},
		"declared, prices": {0.35, nil, true, 0,
			asked("", outcome.FromPrices), asked(sdk.ReasonThreshold, outcome.FromPrices),
			asked(sdk.ReasonThreshold, outcome.FromPrices)},
		"declared, cold": {0.35, nil, false, time.Hour,
			asked("", declared), asked(sdk.ReasonCacheCold, declared), asked(sdk.ReasonCacheCold, declared)},
		"set by a user, prices": {0.35, &half, true, 0,
			asked("", set), asked("", set), asked(sdk.ReasonThreshold, set)},
		"set by a user, cold": {0.35, &half, false, time.Hour,
			asked("", set), asked("", set), asked(sdk.ReasonThreshold, set)},
	} {
		for tokens, want := range map[int][2]string{60_000: c.below, 80_000: c.between, 120_000: c.over} {
			f := newFixture(0, &scripted{mode: sdk.ModeThreshold, compress: keepLast(600)})
			f.req.Settings.ContextLimit, f.req.Settings.Prices = 200_000, cached
			f.req.Settings.Threshold, f.req.Settings.Cadence = c.setting, outcome.CadencePriced
			f.req.Strategy, f.req.Recall, f.req.At = asksEarly{f.strategy, c.share}, c.recall, time.Unix(1000, 0)
			for range 15 {
				add(f.history, says(content.AI, 200))
				f.prepare(t)
			}
			add(f.history, says(content.AI, tokens/10-15*200))
			f.req.At = f.req.At.Add(c.pause)
			got := f.prepare(t)
			if is := asked(got.Compress.Reason, got.Limits.ThresholdFrom); is != want {
				t.Errorf("%s, at %d tokens: %q, want %q", name, tokens, is, want)
			}
			if early := got.Limits.Early; early != c.share && c.setting == nil || early != 0 && c.setting != nil {
				t.Errorf("%s: early from %g on", name, early)
			}
		}
	}
}

// Whatever prices, pauses, pending tokens and sizes: between the declared share and the threshold a Compress may be
// asked for, before it never, at the threshold always; and without a declaration, at the threshold alone.
func TestNoCompressIsAskedBeforeWhatIsDeclared(t *testing.T) {
	early := 0
	draw := func(t *rapid.T) {
		const hard = 20_000
		f := newFixture(0, &scripted{mode: sdk.ModeThreshold, compress: keepLast(20)})
		s := &f.req.Settings
		s.ContextLimit, s.Cadence = hard, outcome.CadencePriced
		s.Prices = rapid.SampledFrom([]*pricing.List{nil, cached, {Input: 1}}).Draw(t, "prices")
		threshold := 0.5
		if rapid.Bool().Draw(t, "set") {
			threshold = rapid.Float64Range(0.05, 1).Draw(t, "threshold")
			s.Threshold = &threshold
		}
		share := rapid.SampledFrom([]float64{0, 0.05, 0.3, 0.5}).Draw(t, "share")
		f.req.Strategy, f.req.Recall = asksEarly{f.strategy, share}, rapid.Bool().Draw(t, "recall")
		f.req.Pending, f.req.At = rapid.IntRange(0, 2*hard/5).Draw(t, "pending"), time.Unix(1000, 0)
		for range 30 {
			add(f.history, says(content.AI, rapid.IntRange(1, 100).Draw(t, "entries")))
			f.req.At = f.req.At.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 6}).Draw(t, "minutes")) * time.Minute)
			_, got, err := f.Prepare(t.Context(), f.req)
			if err != nil {
				t.Fatal(err)
			}
			history := float64(got.TokensBefore)
			over, asked := history+float64(f.req.Pending) >= threshold*hard, got.Compress.Reason != ""
			welcome := share > 0 && s.Threshold == nil && history >= share*float64(hard-f.req.Pending)
			reachable := float64(f.req.Pending) < threshold*hard || got.Compress.Reason == sdk.ReasonHardLimit
			if asked && !over && !welcome || !asked && over && reachable {
				t.Fatalf("%g tokens and %d pending, asked for %q: %+v", history, f.req.Pending, got.Compress.Reason,
					got.Limits)
			}
			if asked && !over {
				early++
			}
		}
	}
	for round := 0; early == 0 && round < 20; round++ { // a few draws may all miss it
		rapid.Check(t, draw)
	}
	if early == 0 {
		t.Error("none was asked below the threshold")
	}
}
