package prepare_test

import (
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// asksEarly is a scripted strategy that declares an early threshold.
type asksEarly struct {
	*scripted
	share float64
}

func (w asksEarly) Info() sdk.Info {
	i := w.scripted.Info()
	i.Trigger.EarlyThreshold = w.share
	return i
}

// The context limit is 1000 tokens and the threshold 500; the strategy keeps the last 100.
func TestAPauseThatOutlastsThePromptCacheCompressesBeforeTheThreshold(t *testing.T) {
	hour := *cached
	hour.CacheTTL = time.Hour
	forever := *cached
	forever.CacheTTL = 0
	for name, c := range map[string]struct {
		entries, pending int // tokens of the history, and besides it
		prices           *pricing.List
		pause            time.Duration
		share            float64 // that the strategy declares
		want             sdk.CompressReason
	}{
		"a third filled, cold":            {350, 0, cached, 6 * time.Minute, 0.35, sdk.ReasonCacheCold},
		"less":                            {340, 0, cached, 6 * time.Minute, 0.35, ""},
		"a third of what the rest leaves": {280, 200, cached, 6 * time.Minute, 0.35, sdk.ReasonCacheCold},
		"less of what the rest leaves":    {270, 220, cached, 6 * time.Minute, 0.35, ""},
		"over the threshold, cold":        {600, 0, cached, 6 * time.Minute, 0.35, sdk.ReasonCacheCold},
		"no pause":                        {350, 0, cached, 5 * time.Minute, 0.35, ""},
		"the cache lives for an hour":     {350, 0, &hour, 6 * time.Minute, 0.35, ""},
		"after that hour":                 {350, 0, &hour, 61 * time.Minute, 0.35, sdk.ReasonCacheCold},
		"the cache does not expire":       {350, 0, &forever, 24 * time.Hour, 0.35, ""},
		"without a cache":                 {350, 0, &pricing.List{Input: 1}, 6 * time.Minute, 0.35, ""},
		"without prices":                  {350, 0, nil, 6 * time.Minute, 0.35, ""},
		"not declared":                    {350, 0, cached, 6 * time.Minute, 0, ""},
		"not declared, at the threshold":  {600, 0, cached, 6 * time.Minute, 0, sdk.ReasonThreshold},
		"another share":                   {350, 0, cached, 6 * time.Minute, 0.36, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(0, &scripted{mode: sdk.ModeThreshold, compress: keepLast(10)})
			f.req.Settings.ContextLimit, f.req.Settings.Prices = 1000, c.prices
			f.req.Strategy = asksEarly{f.strategy, c.share}
			f.req.At = time.Unix(1000, 0)
			add(f.history, says(content.AI, 1))
			if got := f.prepare(t).Compress; got.Reason != "" {
				t.Fatalf("the first request: %+v", got)
			}
			add(f.history, says(content.AI, c.entries/10-1))
			f.req.At, f.req.Pending = f.req.At.Add(c.pause), c.pending
			got := f.prepare(t).Compress
			if got.Reason != c.want || (got.Kind == outcome.KindApplied) != (c.want != "") {
				t.Fatalf("got %+v, want the reason %q", got, c.want)
			}
			if c.want == sdk.ReasonCacheCold &&
				(got.Decision == nil || got.Decision.Reason != outcome.DecidedCold || got.Decision.Saves != c.entries-100) {
				t.Errorf("decision %+v", got.Decision)
			}
			if calls := f.strategy.compresses; c.want != "" && calls[0].Reason != c.want {
				t.Errorf("the strategy is told %q", calls[0].Reason)
			}
		})
	}
}

// What removes little is left for the threshold, and the strategy is not asked again before something is added.
func TestAColdCacheIsNoReasonToRemoveALittle(t *testing.T) {
	f := newFixture(0, &scripted{mode: sdk.ModeThreshold, compress: func(c prepare.CompressCall) ([]rewrite.Piece,
		sdk.NoOpReason, error) {
		return []rewrite.Piece{rewrite.Keep{From: 3, To: len(c.Entries)}}, "", nil
	}})
	f.req.Strategy = asksEarly{f.strategy, 0.35}
	f.req.Settings.ContextLimit, f.req.Settings.Prices = 1000, cached
	add(f.history, says(content.AI, 40))
	f.req.At = time.Unix(1000, 0)
	f.prepare(t)
	for range 2 {
		f.req.At = f.req.At.Add(time.Hour)
		got := f.prepare(t)
		if got.Compress.NoOp != outcome.NoOpDoesNotPay || got.Tokens != 400 {
			t.Errorf("%d tokens are left: %+v", got.Tokens, got.Compress)
		}
	}
	if n := len(f.strategy.compresses); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// What the provider has in its cache is what was sent: an entry that was withheld, a response that was made, and a
// message that was marked since are no reason to think that it has nothing from there on.
func TestWhatWasSentOtherwiseThanItIsKeptIsCached(t *testing.T) {
	f := newFixture(0, &scripted{mode: sdk.ModeThreshold, compress: func(c prepare.CompressCall) ([]rewrite.Piece,
		sdk.NoOpReason, error) {
		n := len(c.Entries)
		return []rewrite.Piece{rewrite.Keep{From: 0, To: n - 22}, rewrite.Keep{From: n - 20, To: n}}, "", nil
	}})
	f.req.Settings.ContextLimit, f.req.Settings.Prices = 1000, cached
	f.req.At = time.Unix(1000, 0)
	unanswered := exchange("a", 10)[:1]
	orphan := exchange("b", 10)[1:]
	add(f.history, joined(unanswered, says(content.Human, 1), orphan, says(content.AI, 40)))
	f.prepare(t)
	add(f.history, says(content.AI, 10))
	got := f.prepare(t).Compress
	if d := got.Decision; d == nil || d.Rewrites != 100 || d.Saves != 20 || got.NoOp != outcome.NoOpDoesNotPay {
		t.Errorf("%+v, decision %+v", got, d)
	}
}
