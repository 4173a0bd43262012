package compare_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
)

func TestWarningsAreWhatWouldBeReadWrongly(t *testing.T) {
	t.Parallel()
	known := replay.Window{Tokens: 1_000_000, By: pricing.ByModel}
	lists := []*pricing.List{{Name: "late", AsOf: "2026-11-20"}, {Name: "early", AsOf: "2026-03-01"}}
	for name, c := range map[string]struct {
		report compare.Report
		want   []string
	}{
		"nothing to say": {compare.Report{Sessions: []compare.SessionReport{{Entries: 3, Billed: 1, Window: known,
			Results: compare.Results{Nothing: compare.Result{Turns: 1}}}}}, nil},
		"what is not in the sums": {
			compare.Report{Unread: 1, Sessions: []compare.SessionReport{{Elsewhere: 2}, {Elsewhere: 3}}},
			[]string{"the sums lack 1 session that cannot be read",
				"5 requests are another session's, which is repeated: each is counted in the session that made it"},
		},
		"doing nothing would have failed": {
			compare.Report{Totals: compare.Results{Nothing: compare.Result{Turns: 9, OverLimit: 4}}, Prices: []*pricing.List{{}}},
			[]string{"nothing: 4 of 9 requests are over the context limit and would have failed; priced as in a " +
				"larger window"},
		},
		"what the base lacks": {
			compare.Report{ByModel: true, Prices: []*pricing.List{{Name: compare.OwnModel}},
				Sessions: []compare.SessionReport{
					{Entries: 3, Timed: true, Billed: 2, Prices: "early", Window: known, Results: compare.Results{
						Nothing: compare.Result{Turns: 5}}},
					{Entries: 3, Timed: true, Window: replay.Window{Tokens: 200_000}, Results: compare.Results{
						Nothing: compare.Result{Sent: 9000}}},
				}},
			[]string{"the window of sessions that name no model is not known: 200,000 tokens are taken, unless --set " +
				"model.contextLimit=N says another",
				"1 of 2 sessions have no usage: tool schemas, and answers and system prompts that are not recorded, are " +
					"not counted in them",
				"3 requests have no usage recorded and count as 0 tokens",
				"costs are those of 1 of 2 sessions: of the others no prices are known",
				"no model is named: 1 session, 9,000 tokens; --prices LIST prices all sessions by a list"},
		},
		"no prices at all": {
			compare.Report{ByModel: true, Sessions: []compare.SessionReport{
				{Entries: 3, Billed: 1, Window: known, Model: "m-1", Unlisted: "m-1", RecordedUSD: 0.0035, Results: compare.Results{
					Nothing: compare.Result{Turns: 1, Sent: 4000}}}}},
			[]string{"no prices are known: nothing is priced, and nothing is advised",
				`m-1 has no price list: 1 session, 4,000 tokens, 0.0035 USD as recorded; this line adds one, below "lists:" in the file of ` +
					`model.priceFile: - {name: "m-1", models: ["m-1"], input: USD, cacheRead: USD, cacheWrite: USD, output: USD, ` +
					`asOf: "YYYY-MM-DD", source: URL}`},
		},
		"a variant": {
			compare.Report{
				Sessions: []compare.SessionReport{{Entries: 3, Timed: true, Window: known}, {Entries: 3, Window: known}},
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
				"2 of 2 sessions have no usage: tool schemas, and answers and system prompts that are not recorded, are " +
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
