package prepare_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
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
		below     float64 // tokens at which the first one is made; 0: at the threshold
		told      bool    // the strategy is told a depth
		cadence   outcome.Cadence
	}{
		"with a way back":              {true, cached, 0.35, nil, 40_000, true, outcome.CadencePriced},
		"without one":                  {false, cached, 0.35, nil, 0, false, outcome.CadencePriced},
		"without prices":               {true, nil, 0.35, nil, 0, false, outcome.CadencePriced},
		"the strategy is not asked":    {true, cached, 0, nil, 0, true, outcome.CadencePriced},
		"another cadence":              {true, cached, 0.35, nil, 0, false, outcome.CadenceGated},
		"a user has set the threshold": {true, cached, 0.35, &low, 0, true, outcome.CadencePriced},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(0, &scripted{mode: sdk.ModeThreshold, compress: keepLast(600)})
			f.req.Settings.ContextLimit, f.req.Settings.Prices = 200_000, c.prices
			f.req.Settings.Threshold, f.req.Settings.Cadence = c.threshold, c.cadence
			f.req.Strategy = whenCold{f.strategy, c.share}
			f.req.Recall = c.recall
			for range 60 {
				add(f.history, says(content.AI, 200)) // of 10 tokens each
				if got := f.prepare(t).Compress; got.Reason == "" || got.Kind == "no-op" {
					continue
				}
				call := f.strategy.compresses[len(f.strategy.compresses)-1]
				if early := float64(call.CurrentTokens) <= c.below; early != (c.below > 0) {
					t.Errorf("compressed at %d tokens", call.CurrentTokens)
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
