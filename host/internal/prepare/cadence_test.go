package prepare_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// cached is a provider whose cache is read for a tenth of the price and written for a quarter more, and lasts five
// minutes.
var cached = &pricing.List{Name: "cached", Input: 1, CacheRead: 0.1, CacheWrite: 1.25, CacheTTL: 5 * time.Minute}

// pruning is a window over AI entries of ten tokens. Once there are so many, its strategy removes those at the given
// positions. The threshold is 500 tokens.
func pruning(entries, from int, remove ...int) *fixture {
	f := newFixture(0, &scripted{mode: sdk.ModeContinuous,
		optimize: func(c prepare.OptimizeCall) (edits []rewrite.Edit, err error) {
			if len(c.Entries) < from {
				return nil, nil
			}
			for _, i := range remove {
				edits = append(edits, rewrite.Edit{Index: i, Remove: true})
			}
			return edits, nil
		}})
	f.req.Settings.ContextLimit = 1000
	add(f.history, says(content.AI, entries))
	return f
}

func TestGated(t *testing.T) {
	for name, c := range map[string]struct {
		threshold  float64
		minSavings int
		pending    int
		want       outcome.Decision
		skipped    outcome.Skipped
		kind       outcome.Kind
	}{
		"the history is small yet": {0.3, 0, 0, outcome.Decision{Cadence: "gated"}, outcome.SkippedGated, ""},
		"too little would go": {0.1, 30, 0, outcome.Decision{Cadence: "gated", Reason: outcome.DecidedTooLittle,
			Saves: 20}, "", outcome.KindHeld},
		"enough goes": {0.1, 20, 0, outcome.Decision{Cadence: "gated", Reason: outcome.DecidedEnough,
			Saves: 20}, "", outcome.KindApplied},
		"a compression is due": {0.9, 500, 300, outcome.Decision{Cadence: "gated", Reason: outcome.DecidedDue,
			Saves: 20}, "", outcome.KindApplied},
	} {
		t.Run(name, func(t *testing.T) {
			f := pruning(20, 0, 0, 1)
			f.req.Settings.Cadence = outcome.CadenceGated
			f.req.Settings.OptimizeThreshold, f.req.Settings.MinSavings = c.threshold, c.minSavings
			f.req.Pending = c.pending
			got := f.prepare(t).Optimize
			if diff := cmp.Diff(c.want, got.Decision); diff != "" {
				t.Error(diff)
			}
			if got.Skipped != c.skipped || got.Kind != c.kind || (got.Removed > 0) != (c.kind == outcome.KindApplied) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// What is held back is not asked for again until something is added, or until it is due.
func TestWhatIsHeldComesBackWhenItIsDue(t *testing.T) {
	f := pruning(20, 0, 0, 1)
	f.req.Settings.Cadence, f.req.Settings.MinSavings = outcome.CadenceGated, 100
	got := f.prepare(t).Optimize
	if got.Kind != outcome.KindHeld || got.LowestChanged == nil || *got.LowestChanged != 0 {
		t.Errorf("got %+v", got)
	}
	if got.Metadata != (sdk.DensityMetadata{}) || got.HeldMetadata == nil || got.HeldMetadata.RecencyPruned != 2 {
		t.Errorf("what was held is reported as done: %+v, held %+v", got.Metadata, got.HeldMetadata)
	}
	if got := f.prepare(t).Optimize; got.Skipped != outcome.SkippedClean {
		t.Errorf("nothing was added: %+v", got)
	}
	f.req.Pending = 400
	if got := f.prepare(t).Optimize; got.Decision.Reason != outcome.DecidedDue || got.Removed != 2 {
		t.Errorf("the threshold is reached: %+v", got)
	}
}

// The gains were worked out by hand. A token costs 1 unless it is cached, in millionths: reading 0.1, writing 1.25.
func TestPriced(t *testing.T) {
	minute := func(n int) time.Time { return time.Unix(int64(1000+60*n), 0) }
	for name, c := range map[string]struct {
		prices *pricing.List
		remove []int // of 20 entries that were sent and 2 that are new
		pause  int   // minutes since the first request
		want   outcome.Decision
		prunes bool
	}{
		// 200 are cached. Removing the first nine entries: 110 are written for 1.25 that were read for 0.1. now: 0.1 ×
		// 200 − 1.25 × 110 = −117.5; one further request: 0.1 × 90 = 9.
		"at the top, early": {cached, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, 1,
			outcome.Decision{Cadence: "priced", Reason: outcome.DecidedTooCostly, Saves: 90, Rewrites: 110, Horizon: 1,
				GainUSD: -108.5e-6}, false},
		// Removing entries 2 to 19: 20 stay as they are, 0 are rewritten. now: 0.1 × 180 = 18; then 0.1 × 180 = 18.
		"all that follows": {cached, []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, 1,
			outcome.Decision{Cadence: "priced", Reason: outcome.DecidedPays, Saves: 180, Horizon: 1, GainUSD: 36e-6},
			true},
		// Removing entries 10 to 18: 100 stay, 10 are rewritten, 90 go. now: 0.1 × 100 − 1.25 × 10 = −2.5; then 9.
		"near the end": {cached, []int{10, 11, 12, 13, 14, 15, 16, 17, 18}, 1,
			outcome.Decision{Cadence: "priced", Reason: outcome.DecidedPays, Saves: 90, Rewrites: 10, Horizon: 1,
				GainUSD: 6.5e-6}, true},
		// It would pay as well, but at least 90 tokens must go.
		"a little near the end": {cached, []int{12, 13, 14, 15, 16, 17, 18, 19}, 1,
			outcome.Decision{Cadence: "priced", Reason: outcome.DecidedTooLittle, Saves: 80}, false},
		"only what is new": {cached, []int{20}, 1, outcome.Decision{Cadence: "priced", Reason: outcome.DecidedUncached,
			Saves: 10}, true},
		"after a pause": {cached, []int{0, 1, 2, 3, 4}, 6, outcome.Decision{Cadence: "priced",
			Reason: outcome.DecidedCold, Saves: 50, Rewrites: 150}, true},
		// Half of the 90 must go.
		"a little after a pause": {cached, []int{0, 1, 2, 3}, 6, outcome.Decision{Cadence: "priced",
			Reason: outcome.DecidedTooLittle, Saves: 40, Rewrites: 160}, false},
		"without a cache": {&pricing.List{Input: 1}, []int{0}, 1,
			outcome.Decision{Cadence: "priced", Reason: outcome.DecidedCold, Saves: 10, Rewrites: 190}, true},
		"without prices": {nil, []int{0}, 1, outcome.Decision{Cadence: "every-turn", Reason: outcome.DecidedEveryTurn,
			Saves: 10, Rewrites: 190}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := pruning(20, 22, c.remove...)
			f.req.Settings.Cadence, f.req.Settings.Prices = outcome.CadencePriced, c.prices
			f.req.Settings.MinSavings = 90
			f.req.At = minute(0)
			f.prepare(t)
			add(f.history, says(content.AI, 2))
			f.req.At = minute(c.pause)
			got := f.prepare(t)
			if diff := cmp.Diff(c.want, got.Optimize.Decision, approximately); diff != "" {
				t.Error(diff)
			}
			if pruned := got.Optimize.Removed > 0; pruned != c.prunes || (got.Optimize.Kind == outcome.KindHeld) == c.prunes {
				t.Errorf("got %+v", got.Optimize)
			}
		})
	}
}

// A session may end before it reaches the hard limit: at the threshold, prices decide.
func TestPricedAtTheThreshold(t *testing.T) {
	f := pruning(20, 22, 0, 1, 2, 3, 4, 5, 6, 7, 8)
	f.req.Settings.Cadence, f.req.Settings.Prices, f.req.Settings.MinSavings = outcome.CadencePriced, cached, 1000
	f.req.At = time.Unix(1000, 0)
	f.prepare(t)
	add(f.history, says(content.AI, 2))
	f.req.Pending = 400
	if got := f.prepare(t).Optimize; got.Kind != outcome.KindHeld || got.Decision.Reason != outcome.DecidedTooCostly {
		t.Errorf("the request fits, and pruning does not pay: %+v", got)
	}
	f.req.Pending = 790
	if got := f.prepare(t).Optimize; got.Decision.Reason != outcome.DecidedDue || got.Removed != 9 {
		t.Errorf("the request does not fit: %+v", got)
	}
}

// How fast the history grows is known after a rewrite, too.
func TestTheHorizonOutlivesARewrite(t *testing.T) {
	f := pruning(20, 30, 0)
	f.req.Settings.Cadence, f.req.Settings.Prices, f.req.Settings.ContextLimit = outcome.CadencePriced, cached, 1200
	f.req.Settings.MinSavings = 10
	f.req.At = time.Unix(1000, 0)
	for range 5 {
		f.prepare(t)
		add(f.history, says(content.AI, 2))
	}
	f.req.At = f.req.At.Add(time.Hour) // the cache is cold, so that the strategy may prune
	f.prepare(t)
	add(f.history, says(content.AI, 2))
	f.req.Pending = 250
	if got := f.prepare(t).Optimize.Decision; got.Horizon != 2 {
		t.Errorf("560 of 600 tokens, of which 20 are added by each request: %+v", got)
	}
}

var approximately = cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })

// A request that follows another may have its beginning in the provider's cache.
func TestStable(t *testing.T) {
	f := pruning(6, 6, 3)
	f.req.Settings.Cadence = outcome.CadenceEveryTurn
	first := f.prepare(t)
	if first.Stable != (outcome.Stable{}) {
		t.Errorf("nothing was sent before: %+v", first.Stable)
	}
	if got := f.prepare(t).Stable; got != (outcome.Stable{Entries: 5, Tokens: 50}) {
		t.Errorf("nothing changed: %+v", got)
	}
	add(f.history, says(content.AI, 1)) // the strategy removes position 3 again
	got := f.prepare(t)
	if got.Stable != (outcome.Stable{Entries: 3, Tokens: 30}) || *got.Optimize.LowestChanged != 3 {
		t.Errorf("got %+v, lowest change %v", got.Stable, got.Optimize.LowestChanged)
	}
}

// What could not be sent is not in the provider's cache.
func TestARequestThatIsTooLargeWarmsNoCache(t *testing.T) {
	f := pruning(20, 21, 0)
	f.req.Settings.Cadence, f.req.Settings.Prices = outcome.CadencePriced, cached
	start := time.Unix(1000, 0)
	f.req.At = start
	f.prepare(t)
	f.req.At, f.req.Pending = start.Add(10*time.Minute), 5000
	if _, _, err := f.Prepare(t.Context(), f.req); err == nil {
		t.Fatal("it is not too large")
	}
	add(f.history, says(content.AI, 1))
	f.req.At, f.req.Pending = start.Add(11*time.Minute), 0
	if got := f.prepare(t).Optimize.Decision; got.Reason != outcome.DecidedCold {
		t.Errorf("nothing was sent for eleven minutes, and the cache lasts five: %+v", got)
	}
}

func TestAShortPromptIsInNoCache(t *testing.T) {
	f := pruning(20, 21, 0)
	list := *cached
	list.CacheMinimum = 4096
	f.req.Settings.Cadence, f.req.Settings.Prices = outcome.CadencePriced, &list
	f.prepare(t)
	add(f.history, says(content.AI, 1))
	if got := f.prepare(t).Optimize.Decision; got.Reason != outcome.DecidedCold {
		t.Errorf("200 tokens, the provider caches from 4096 on: %+v", got)
	}
}

// The threshold is one of the provider's tokens: a system prompt brings it nearer.
func TestTheHorizonGoesByTheProvidersCount(t *testing.T) {
	horizon := func(overhead int) int {
		f := pruning(20, 30, 0)
		f.req.Settings.Cadence, f.req.Settings.Prices, f.req.Settings.ContextLimit = outcome.CadencePriced, cached, 1200
		f.req.At = time.Unix(1000, 0)
		f.ReportUsage(200+overhead, 200)
		f.prepare(t)
		for range 4 {
			add(f.history, says(content.AI, 2))
			f.prepare(t)
		}
		add(f.history, says(content.AI, 2))
		return f.prepare(t).Optimize.Decision.Horizon
	}
	if far, near := horizon(0), horizon(290); far != 5 || near != 0 {
		t.Errorf("%d requests are expected at 300 of 600 tokens, %d at 590", far, near)
	}
}
