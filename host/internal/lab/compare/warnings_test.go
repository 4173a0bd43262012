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
		"nothing to say": {compare.Report{Sessions: []compare.SessionReport{{Entries: 3}}}, nil},
		"doing nothing would have failed": {
			compare.Report{Totals: compare.Results{Nothing: compare.Result{Turns: 9, OverLimit: 4}}},
			[]string{"nothing: 4 of 9 requests are over the context limit and would have failed; priced as in a " +
				"larger window"},
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

// The advice names who is best by each price list, and who keeps most; a variant that could not send everything is
// not compared.
func TestAdvice(t *testing.T) {
	costs := func(a, b float64) []compare.Cost {
		return []compare.Cost{{List: "a", Relative: a}, {List: "b", Relative: b}}
	}
	all := []compare.Result{
		{Variant: "x", Done: true, Costs: costs(-0.3, -0.1), Needs: compare.Needs{Share: 0.8}},
		{Variant: "y", Done: true, Costs: costs(-0.2, -0.4), Needs: compare.Needs{Share: 0.9}},
		{Variant: "z", Done: true, Costs: costs(-0.9, -0.9), Needs: compare.Needs{Share: 1}, OverLimit: 1},
	}
	r := compare.Report{Prices: []*pricing.List{{Name: "a"}, {Name: "b"}}, Totals: compare.Results{Variants: all}}
	want := []string{"costs least: x by a, y by b", "keeps most of what calls needed: y"}
	if diff := cmp.Diff(want, r.Advice()); diff != "" {
		t.Error(diff)
	}
	r.Totals.Variants = all[1:]
	if got := r.Advice(); got != nil {
		t.Errorf("one variant: %q", got)
	}
}
