package compare

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

func TestARequestMeetsTheCacheThatTheRecorderMet(t *testing.T) {
	warm := transcript.Usage{PromptTokens: 1000, CacheRead: 880, CacheWrite: 120, CacheWriteHour: 90}
	cold := transcript.Usage{PromptTokens: 1000, CacheRead: 100, CacheWrite: 900}
	last := recordedCache{sent: 900, nothing: 900}
	pruned := recordedCache{sent: 500, nothing: 900}
	for name, tt := range map[string]struct {
		cache          recordedCache
		u              transcript.Usage
		tokens, stable int
		whole          bool
		want           pricing.Prompt
	}{
		"the recorded request": {last, warm, 1000, 0, true,
			pricing.Prompt{CacheRead: 880, CacheWrite: 30, CacheWriteHour: 90}},
		"a smaller one that goes on": {pruned, warm, 600, 0, true,
			pricing.Prompt{CacheRead: 480, CacheWrite: 30, CacheWriteHour: 90}},
		"a rewrite": {last, warm, 600, 200, false,
			pricing.Prompt{CacheRead: 200, CacheWrite: 100, CacheWriteHour: 300}},
		"a rewrite while the cache is cold": {last, cold, 600, 200, false,
			pricing.Prompt{CacheRead: 100, CacheWrite: 500}},
		"the first, with a cached system prompt": {recordedCache{}, cold, 1000, 0, true,
			pricing.Prompt{CacheRead: 100, CacheWrite: 900}},
	} {
		got := tt.cache.request(&tt.u, pricing.Request{Tokens: tt.tokens, Stable: tt.stable}, tt.whole)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestWritesForAnHourHaveTheirPrice(t *testing.T) {
	catalog, err := pricing.Load("")
	if err != nil {
		t.Fatal(err)
	}
	l := catalog.ForModel("claude-sonnet-4-6")
	got := l.Cost(pricing.Prompt{CacheRead: 1e6, CacheWrite: 1e6, CacheWriteHour: 1e6, Uncached: 1e6}).USD
	if want := 0.3 + 3.75 + 6 + 3; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v USD, want %v", got, want)
	}
}
