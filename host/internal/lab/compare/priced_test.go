package compare_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// Where all requests fit without a strategy, pruning by prices costs at most 2 % more than doing nothing. The sessions
// of the short run are those that were up to 34 % dearer when the threshold made pruning free; the full run has all.
func TestPricedIsHardlyEverDearerThanNothing(t *testing.T) {
	race.Skip(t)
	few := []string{"session.messages.json", "bb-781d6f3a8e-0.jsonl"}
	names := []string{"anthropic-fable-5.1-1h", "openai-gpt-5.6-sol", "deepseek"}
	if !testing.Short() {
		names = append(names, "anthropic-sonnet", "anthropic-sonnet-1h", "anthropic-sonnet-5.5", "anthropic-sonnet-5.5-1h",
			"openai-gpt-5", "openai-gpt-4.1", "openai-gpt-6.1-sol", "gemini-2.5-pro", "deepseek-v4-pro", "no-cache")
		few = nil
	}
	sessions := recorded(t, few...)
	for _, limit := range []int{60_000, 100_000, 200_000}[:full.Or(2, 3)] {
		h := open(t, map[string]any{"model.contextLimit": limit, "compression.density.cadence": "priced"})
		r, err := compare.Run(t.Context(), h, compare.Options{Sessions: sessions, Prices: lists(t, names...),
			Variants: []compare.Variant{{Strategy: "high-density"}}})
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		for _, s := range r.Sessions {
			if s.Nothing.OverLimit > 0 {
				continue
			}
			tried++
			for _, v := range s.Variants {
				if c := v.Costs[0]; c.Relative > 0.02 {
					t.Errorf("%s, %s, %d tokens: %+.1f %%", s.Name, v.Variant, limit, 100*c.Relative)
				}
			}
		}
		if tried == 0 {
			t.Errorf("%d tokens: no session fits", limit)
		}
	}
}
