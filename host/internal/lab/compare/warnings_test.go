package compare_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
)

func TestWarningsAreWhatWouldBeReadWrongly(t *testing.T) {
	t.Parallel()
	lists := []*pricing.List{{Name: "late", AsOf: "2026-11-20"}, {Name: "early", AsOf: "2026-03-01"}}
	for name, c := range map[string]struct {
		report compare.Report
		want   []string
	}{
		"nothing to say": {compare.Report{Sessions: []compare.SessionReport{{Entries: 3, Billed: 1,
			Results: compare.Results{Nothing: compare.Result{Turns: 1}}}}}, nil},
		"doing nothing would have failed": {
			compare.Report{Totals: compare.Results{Nothing: compare.Result{Turns: 9, OverLimit: 4}}},
			[]string{"nothing: 4 of 9 requests are over the context limit and would have failed; priced as in a " +
				"larger window"},
		},
		"what the base lacks": {
			compare.Report{ByModel: true, Other: "late", Prices: []*pricing.List{compare.OwnPrices("")},
				Sessions: []compare.SessionReport{
					{Entries: 3, Timed: true, Billed: 2, Prices: "early", Results: compare.Results{
						Nothing: compare.Result{Turns: 5}}},
					{Entries: 3, Timed: true},
				}},
			[]string{"1 of 2 sessions have no usage: tool schemas, answers, and system prompts that are not recorded are " +
				"not counted in them",
				"3 requests have no usage recorded and count as 0 tokens",
				"1 of 2 sessions have a model without a price list: they are priced by late"},
		},
		"a variant": {
			compare.Report{
				Sessions: []compare.SessionReport{{Entries: 3, Timed: true}, {Entries: 3}},
				Totals: compare.Results{Variants: []compare.Result{{
					Variant: "one-shot", Turns: 9, OverLimit: 1, Sessions: 1,
					LLM:   &outcome.Spent{Calls: 2, InputTokens: 900, OutputTokens: 100},
					Costs: []compare.Cost{{List: "late", USD: 1, Model: 0.25}},
				}}},
				Prices: lists,
			},
			[]string{
				"one-shot: 1 of 9 requests are still over the context limit; they cost nothing, here and in what it " +
					"is compared with",
				"one-shot: the figures are those of 1 of 2 sessions; compare shares, not sums",
				"one-shot: its cost includes its own model calls, 2 with 1000 tokens (0.2500 USD by late)",
				"2 of 2 sessions have no usage: tool schemas, answers, and system prompts that are not recorded are " +
					"not counted in them",
				"1 of 2 sessions have no times: the prompt cache is assumed to stay warm in them",
				"prices as of 2026-03-01 to 2026-11-20",
			},
		},
		"a comparison that was stopped": {
			compare.Report{Incomplete: true, Prices: lists[:1]},
			[]string{"the comparison was stopped before its end: variants have figures of different sessions",
				"prices as of 2026-11-20"},
		},
	} {
		if diff := cmp.Diff(c.want, c.report.Warnings()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// A variant that could not send everything is not compared.
func TestKeepsMost(t *testing.T) {
	all := []compare.Result{
		{Variant: "x", Done: true, Saved: 0.2, Kept: 0.8},
		{Variant: "y", Done: true, Saved: 0.2, Kept: 0.9},
		{Variant: "z", Done: true, Saved: 0.2, Kept: 0.95, OverLimit: 1},
	}
	r := compare.Report{Totals: compare.Results{Variants: all}}
	if got := r.KeepsMost(); got != "y" {
		t.Errorf("%q keeps most", got)
	}
	r.Totals.Variants = all[1:]
	if got := r.KeepsMost(); got != "" {
		t.Errorf("of one variant, %q", got)
	}
}
