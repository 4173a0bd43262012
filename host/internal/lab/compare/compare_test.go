package compare_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

func says(speaker content.Speaker, text string) content.Content {
	return content.Content{Speaker: speaker, Blocks: []content.Block{content.Text{Text: text}}}
}

// calls is an answer with a text and a call.
func calls(text, id, tool, params string) content.Content {
	c := says(content.AI, text)
	c.Blocks = append(c.Blocks, content.ToolCall{ID: id, Name: tool, Parameters: json.RawMessage(params)})
	return c
}

func answers(id, tool, result string) content.Content {
	return content.Content{Speaker: content.Tool, Blocks: []content.Block{
		content.ToolResponse{CallID: id, ToolName: tool, Result: content.String(result)},
	}}
}

// at says when an entry was recorded, in minutes.
func at(minutes int, c content.Content) content.Content {
	stamp := time.Date(2026, 1, 2, 3, minutes, 0, 0, time.UTC).Format(time.RFC3339)
	c.Metadata = json.RawMessage(fmt.Sprintf(`{"timestamp":%q}`, stamp))
	return c
}

func session(name string, entries ...content.Content) compare.Session {
	return compare.Session{Name: name, Transcript: &transcript.Transcript{Format: transcript.Native, Entries: entries}}
}

// reads is a session of four requests: two files are read, what stood in the first is used, then that file is read
// again, then what stood in the second is used.
func reads() compare.Session {
	const a = "func parseHeader(b []byte) error { return errBadMagic }"
	return session("reads",
		says(content.Human, "Why does it fail?"),
		calls("I look at it.", "c1", "read_file", `{"file_path":"/w/a.go"}`),
		answers("c1", "read_file", a),
		calls("And at the other.", "c2", "read_file", `{"file_path":"/w/b.go"}`),
		answers("c2", "read_file", "type cfgReader struct{}"),
		calls("It is parseHeader with errBadMagic.", "c3", "read_file", `{ "file_path" : "/w/a.go" }`),
		answers("c3", "read_file", a),
		says(content.AI, "Then cfgReader is right."),
	)
}

// cheap has prices with which sums can be checked: 1 USD for a million tokens.
var cheap = pricing.List{Name: "cheap", Input: 1, CacheRead: 0.1, CacheWrite: 1.25, Output: 5}

func run(t *testing.T, h *window.Host, o compare.Options) *compare.Report {
	t.Helper()
	r, err := compare.Run(t.Context(), h, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// counts returns what the entries count.
func counts(t *testing.T, h *window.Host, entries ...content.Content) []int {
	t.Helper()
	counted, err := h.Count(t.Context(), entries)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]int, len(entries))
	for i := range out {
		out[i] = counted.Tokens(i)
	}
	return out
}

func sum(n ...int) (total int) {
	for _, v := range n {
		total += v
	}
	return total
}

// usd is the price of requests by the list cheap, of which read and written tokens are given in turn.
func usd(readAndWritten ...int) (total float64) {
	for i := 0; i < len(readAndWritten); i += 2 {
		total += (0.1*float64(readAndWritten[i]) + 1.25*float64(readAndWritten[i+1])) / 1e6
	}
	return total
}

// alike ignores what differs from run to run.
var alike = cmp.Options{
	cmpopts.IgnoreFields(compare.Result{}, "HostTime", "PluginTime"), cmpopts.IgnoreFields(compare.Report{}, "Took"),
	cmpopts.EquateApprox(0, 1e-9),
}

// TestWhatTheWayBackCosts has the tool in each request, and a mark in the place of each large result that is not there
// as it was. A mark is as new as what is around it.
func TestWhatTheWayBackCosts(t *testing.T) {
	s := reads()
	for _, i := range []int{2, 6} { // the first file
		s.Transcript.Entries[i] = answers(fmt.Sprint("c", i/2), "read_file", strings.Repeat("parseHeader errBadMagic\n", 20))
	}
	o := compare.Options{Sessions: []compare.Session{s}, Prices: []*pricing.List{&cheap},
		Variants: []compare.Variant{{Strategy: "forgetful"}}}
	h := open(t, nil)
	n := counts(t, h, says(content.Human, mcp.Prompt()), says(content.Human, "[gone]"),
		says(content.Human, "[gone]"+marks.Recall("012345678901234")))
	tool, mark := n[0], n[2]-n[1]
	if mark < 8 || mark > 13 {
		t.Errorf("a mark has %d tokens", mark)
	}
	got := run(t, h, o).Totals.Variants[0]
	// The first result is gone from the third request on; the second file's is small.
	want := usd(0, tool, tool, 0, tool, mark, tool+mark, 0)
	if c := got.Costs[0]; got.RecallTool != 4*tool+2*mark || math.Abs(c.RecallTool-want) > 1e-12 ||
		math.Abs(c.RecallToolShare-want/(c.USD+want)) > 1e-12 {
		t.Errorf("%d tokens, %v USD, a share of %v; want %d, %v", got.RecallTool, c.RecallTool, c.RecallToolShare,
			4*tool+2*mark, want)
	}
	off := run(t, open(t, map[string]any{"proxy.recall": false}), o).Totals.Variants[0]
	if off.RecallTool != 0 || off.Costs[0].RecallTool != 0 || off.Costs[0].USD != got.Costs[0].USD {
		t.Errorf("without the tool: %+v", off.Costs[0])
	}
}

// A pruning that is wrong shows: what a later turn used was no longer there. One that is right shows as nothing lost.
func TestEveryFigureOfASmallSession(t *testing.T) {
	h := open(t, nil)
	s := reads()
	r := run(t, h, compare.Options{
		Sessions: []compare.Session{s}, Prices: []*pricing.List{&cheap}, Turns: true,
		Variants: []compare.Variant{{Strategy: "forgetful"}, {Strategy: "high-density"}},
	})
	n := counts(t, h, append(s.Transcript.Entries, answers("c1", "read_file", "[gone]"))...)
	gone := n[8]

	// The requests are before the entries 1, 3, 5 and 7.
	unpruned := []int{n[0], sum(n[:3]...), sum(n[:5]...), sum(n[:7]...)}
	nothing := compare.Result{
		Variant: compare.NothingName, Done: true, Sessions: 1, Turns: 4,
		Sent: sum(unpruned...), Unpruned: sum(unpruned...), Peak: unpruned[3], PeakUnpruned: unpruned[3],
		Recall: compare.Recall{Used: 4, Kept: 4, Share: 1, UsedResults: 3, KeptResults: 3, ShareResults: 1,
			UsedLines: 3, KeptLines: 3, ShareLines: 1},
		Needs:  compare.Needs{Calls: 1, Kept: 1, Share: 1, ShareFound: 1, ShareEdits: 1},
		Own:    compare.Own{Requests: 3, Share: 1, Worst: 1},
		Kept:   1,
		Pruned: compare.Pruned{Tools: []compare.Share{}, Files: []compare.Share{}},
	}
	paid := usd(0, unpruned[0], unpruned[0], n[1]+n[2], unpruned[1], n[3]+n[4], unpruned[2], n[5]+n[6])
	nothing.Costs = []compare.Cost{{
		List: "cheap", USD: paid, Nothing: paid, CacheRead: sum(unpruned[:3]...), CacheWrite: unpruned[3],
	}}

	// The first file's result is gone from the third request on, the second's in the fourth.
	sent := []int{unpruned[0], unpruned[1], unpruned[2] - n[2] + gone, unpruned[3] - n[2] - n[4] + 2*gone}
	top := n[0] + n[1]        // what the third request has in common with the second
	more := top + gone + n[3] // and the fourth with the third
	forgot := compare.Result{
		Variant: "forgetful", Done: true, Sessions: 1, Turns: 4,
		Sent: sum(sent...), Unpruned: sum(unpruned...), Saved: 1 - float64(sum(sent...))/float64(sum(unpruned...)),
		Peak: max(sent[1], sent[2], sent[3]), PeakUnpruned: unpruned[3], Rewrites: 2, Optimized: 2,
		Recall: compare.Recall{
			Used: 4, Kept: 1, Share: 0.25, // the path of the first file stands in the call, too
			UsedResults: 3, KeptResults: 0, ShareResults: 0,
			UsedLines: 3, KeptLines: 0, ShareLines: 0, // a call has no line around its path
			Lost: []compare.Lost{
				{Identifier: "parseHeader", Session: "reads", Turn: 3, Entry: 5, From: 2},
				{Identifier: "errBadMagic", Session: "reads", Turn: 3, Entry: 5, From: 2},
				{Identifier: "cfgReader", Session: "reads", Turn: 4, Entry: 7, From: 4},
			},
		},
		Needs:   compare.Needs{Calls: 1, Kept: 1, Share: 1, ShareFound: 1, ShareEdits: 1},
		Own:     compare.Own{Requests: 3, Share: 1, Worst: 1},
		Rereads: compare.Rereads{Calls: 1, Tokens: n[6]},
		Pruned: compare.Pruned{
			Entries: 2, Tokens: n[2] + n[4] - 2*gone,
			Tools: []compare.Share{{Name: "read_file", Count: 2, Tokens: n[2] + n[4] - 2*gone}},
			Files: []compare.Share{
				{Name: "/w/a.go", Count: 1, Tokens: n[2] - gone}, {Name: "/w/b.go", Count: 1, Tokens: n[4] - gone},
			},
		},
	}
	forgotUSD := usd(0, sent[0], sent[0], n[1]+n[2], top, sent[2]-top, more, sent[3]-more)
	forgot.Costs = []compare.Cost{{
		List: "cheap", USD: forgotUSD, Nothing: paid, Relative: forgotUSD/paid - 1,
		CacheRead: sent[0] + top + more, CacheWrite: sum(sent...) - sent[0] - top - more,
	}}

	tool := counts(t, h, says(content.Human, mcp.Prompt()))[0]
	withTool := func(r compare.Result) compare.Result { // written once, then read; no result is large enough for a mark
		c := r.Costs[0]
		c.RecallTool = usd(0, tool, 3*tool, 0)
		c.RecallToolShare = c.RecallTool / (c.USD + c.RecallTool)
		r.RecallTool, r.Costs = 4*tool, []compare.Cost{c}
		return r
	}
	kept := withTool(nothing)
	kept.Variant = "high-density"
	forgot = withTool(forgot)

	got := r.Sessions[0]
	details := cmpopts.IgnoreFields(compare.Result{}, "Limits", "Points", "Steps")
	hindsight := cmpopts.IgnoreFields(compare.Cost{}, "Best", "OfBest") // they have tests of their own
	want := compare.Results{Nothing: nothing, Variants: []compare.Result{forgot, kept}}
	if diff := cmp.Diff(want, got.Results, alike, details, hindsight); diff != "" {
		t.Errorf("the session:\n%s", diff)
	}
	// What each turn did: the first and the second had nothing to remove.
	var removed []int
	for _, step := range got.Variants[0].Steps {
		removed = append(removed, step.Optimize.Removed+step.Optimize.Replaced)
		if step.Prepared.Contents() != nil || step.HostTime <= 0 {
			t.Errorf("turn %d: %+v", step.Turn, step)
		}
	}
	if diff := cmp.Diff([]int{0, 0, 1, 1}, removed); diff != "" {
		t.Errorf("removed in each turn:\n%s", diff)
	}
	total := cmpopts.IgnoreFields(compare.Result{}, "Limits", "Points", "PerSession")
	costs := cmpopts.IgnoreFields(compare.Cost{}, "PerSession")
	if diff := cmp.Diff(want, r.Totals, alike, total, costs, hindsight); diff != "" {
		t.Errorf("the totals of one session are not its own:\n%s", diff)
	}
	for v, got := range map[float64]compare.Spread{
		0.25: r.Totals.Variants[0].PerSession["recall"], forgot.Costs[0].Relative: *r.Totals.Variants[0].Costs[0].PerSession,
	} {
		if diff := cmp.Diff(compare.Spread{Mean: v, Worst: v, Session: "reads"}, got, alike); diff != "" {
			t.Errorf("recall or cost of the only session:\n%s", diff)
		}
	}
	if got.Entries != 8 || got.Tokens != sum(n[:8]...) || got.Timed || got.Boundaries != nil ||
		got.Format != transcript.Native {
		t.Errorf("%+v", got)
	}
	round := func(usd float64) []float64 { return []float64{math.Round(usd*1e4) / 1e4} }
	points := []compare.Point{
		{Turn: 1, Entry: 1, Sent: sent[0], Unpruned: unpruned[0], USD: round(usd(0, sent[0]))},
		{Turn: 2, Entry: 3, Sent: sent[1], Unpruned: unpruned[1], USD: round(usd(0, sent[0], sent[0], n[1]+n[2]))},
		{
			Turn: 3, Entry: 5, Sent: sent[2], Unpruned: unpruned[2],
			USD: round(usd(0, sent[0], sent[0], n[1]+n[2], top, sent[2]-top)), Rewrite: true,
		},
		{Turn: 4, Entry: 7, Sent: sent[3], Unpruned: unpruned[3], USD: round(forgotUSD), Rewrite: true},
	}
	if diff := cmp.Diff(points, got.Variants[0].Points, alike); diff != "" {
		t.Errorf("the points:\n%s", diff)
	}
	if l := got.Variants[0].Limits; l == nil || l.Threshold != 0.85 || l.Hard <= 0 {
		t.Errorf("limits: %+v", l)
	}
}

// A pause lets the cache go cold, a compaction of the recorder starts over, for doing nothing too.
func TestPausesAndCompactionsOfTheRecorder(t *testing.T) {
	h := open(t, nil)
	list := cheap
	list.CacheTTL = 5 * time.Minute
	s := session("s",
		at(0, says(content.Human, "Look at parseHeader.")), at(1, says(content.AI, "parseHeader is fine.")),
		at(2, says(content.Human, "Sure?")), at(3, says(content.AI, "parseHeader, yes.")),
		at(20, says(content.Human, "And now?")), at(21, says(content.AI, "Yes.")),
		at(22, says(content.Human, "Summary: all is well.")), at(23, says(content.AI, "So parseHeader stays.")),
	)
	s.Transcript.Boundaries = []transcript.Boundary{{Index: 6, Kind: transcript.BoundaryCompact}}
	r := run(t, h, compare.Options{
		Sessions: []compare.Session{s}, Prices: []*pricing.List{&list},
		Variants: []compare.Variant{{Strategy: "forgetful"}},
	})
	n := counts(t, h, s.Transcript.Entries...)
	want := usd(
		0, n[0], // at 0
		n[0], n[1]+n[2], // at 2
		0, sum(n[:5]...), // at 20: cold
		0, n[6], // at 22, behind the compaction
	)
	got := r.Sessions[0]
	for _, v := range append(got.Variants, got.Nothing) {
		if c := v.Costs[0]; math.Abs(c.USD-want) > 1e-12 || math.Abs(c.Nothing-want) > 1e-12 || v.Rewrites != 0 {
			t.Errorf("%s: %+v with %d rewrites, want %g USD", v.Variant, c, v.Rewrites, want)
		}
		// Twice it was used while it stood there; behind the compaction it did not.
		if v.Recall.Used != 2 || v.Recall.Kept != 2 || v.Recall.UsedResults != 0 {
			t.Errorf("%s: %+v", v.Variant, v.Recall)
		}
	}
	if diff := cmp.Diff([]int{4}, got.Boundaries); diff != "" || !got.Timed {
		t.Errorf("timed %v, boundaries:\n%s", got.Timed, diff)
	}
}

// A recorder may compact between two answers: the second sees nothing of what stood before.
func TestACompactionJustBeforeAnAnswer(t *testing.T) {
	s := session(
		"s", says(content.Human, "Look at parseHeader."), says(content.AI, "I do."),
		says(content.AI, "It is parseHeader."),
	)
	s.Transcript.Boundaries = []transcript.Boundary{{Index: 2, Kind: transcript.BoundaryCompacted}}
	r := run(
		t, open(t, nil),
		compare.Options{Sessions: []compare.Session{s}, Variants: []compare.Variant{{Strategy: "forgetful"}}},
	)
	if v := r.Totals.Variants[0]; v.Turns != 2 || v.Recall.Used != 0 || r.Totals.Nothing.Turns != 2 ||
		r.Totals.Nothing.Recall.Used != 0 {
		t.Errorf("%+v", v)
	}
}

// What the strategy's own model calls cost is part of the cost: as the profile says, else by the list.
func TestModelCallsOfTheStrategyCost(t *testing.T) {
	var entries []content.Content
	for i := range 60 {
		entries = append(
			entries, says(content.Human, fmt.Sprint("question ", i)),
			says(content.AI, strings.Repeat("a long answer, ", 100)),
		)
	}
	for name, input := range map[string]float64{"prices of the list": 0, "prices of the profile": 100} {
		t.Run(name, func(t *testing.T) {
			server := modelapi.Start(t, modelapi.Options{Reply: modelapi.Always(modelapi.Reply{
				Text: "<state_snapshot>\n<overall_goal>\nA parser.\n</overall_goal>\n</state_snapshot>"})})
			h := open(t, map[string]any{
				"compression.profile": "writer", "model.contextLimit": 20_000,
				"profiles.writer.provider.kind":         "openai",
				"profiles.writer.provider.model":        "writer-1",
				"profiles.writer.provider.baseURL":      server.URL,
				"profiles.writer.provider.prices.input": input,
			})
			r := run(t, h, compare.Options{
				Sessions: []compare.Session{
					session("s", entries...),
				}, Prices: []*pricing.List{&cheap}, Variants: []compare.Variant{{Strategy: "one-shot"}},
			})
			v := r.Totals.Variants[0]
			if !v.Done || v.LLM == nil || v.LLM.Calls == 0 || v.Compressed != v.LLM.Calls {
				t.Fatalf("%+v", v)
			}
			want := (float64(v.LLM.InputTokens)*1 + float64(v.LLM.OutputTokens)*5) / 1e6
			if input > 0 {
				want = float64(v.LLM.InputTokens) * input / 1e6
			}
			c := v.Costs[0]
			prompts := (0.1*float64(c.CacheRead) + 1.25*float64(c.CacheWrite)) / 1e6
			if math.Abs(c.Model-want) > 1e-9 || math.Abs(c.USD-c.Model-prompts) > 1e-9 ||
				c.Relative != c.USD/c.Nothing-1 {
				t.Errorf("%+v, want %g USD for %+v", c, want, v.LLM)
			}
			points := r.Sessions[0].Variants[0].Points
			if last := points[len(points)-1].USD[0]; math.Abs(last-c.USD) > 1e-4 {
				t.Errorf("the last point is %g USD of %g", last, c.USD)
			}
		})
	}
}

func TestWhatDependsOnPricesIsRunOncePerList(t *testing.T) {
	h := open(t, nil)
	priced := map[string]string{"compression.density.cadence": "priced"}
	r := run(t, h, compare.Options{
		Sessions: []compare.Session{reads()}, Prices: lists(t, "anthropic-sonnet", "no-cache"),
		Variants: []compare.Variant{
			{
				Name: "forgetful cadence=priced", Strategy: "forgetful", Settings: priced,
			}, {Strategy: "forgetful"},
			{Name: "top-down-truncation cadence=priced", Strategy: "top-down-truncation", Settings: priced},
			{
				Name: "fixed", Strategy: "forgetful",
				Settings: map[string]string{"compression.density.cadence": "priced", "model.priceList": "no-cache"},
			},
		},
	})
	type column struct {
		Name, List string
		Costs      int
	}
	var got []column
	for i, v := range r.Variants {
		got = append(got, column{v.Name, v.PriceList, len(r.Totals.Variants[i].Costs)})
		if r.Sessions[0].Variants[i].Variant != v.Name || r.Totals.Variants[i].Variant != v.Name {
			t.Errorf("%s is in another's place", v.Name)
		}
	}
	want := []column{
		{
			"forgetful cadence=priced (anthropic-sonnet)", "anthropic-sonnet", 1,
		}, {"forgetful cadence=priced (no-cache)", "no-cache", 1},
		{"forgetful", "", 2}, {"top-down-truncation cadence=priced", "", 2}, {"fixed", "", 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Without a cache every pruning pays, and it is the list that says so.
	if all := r.Totals.Variants; all[1].Optimized != 2 || all[1].Costs[0].List != "no-cache" || all[4].Optimized != 2 {
		t.Errorf("%+v", all)
	}
}

// A session that grows over its limit is compressed; one message that is too large alone is over it all the same.
func TestLimitsAreThoseOfTheVariant(t *testing.T) {
	h := open(t, map[string]any{"model.contextLimit": 3000, "model.completionBudget": 0})
	var entries []content.Content
	for i := range 40 {
		entries = append(
			entries, says(content.Human, fmt.Sprint("question ", i)), says(content.AI, strings.Repeat("long ", 100)),
		)
	}
	large := session("large", says(content.Human, strings.Repeat("word ", 4000)), says(content.AI, "ok"))
	r := run(
		t,
		h,
		compare.Options{Sessions: []compare.Session{session("long", entries...), large}, Variants: []compare.Variant{
			{Strategy: "top-down-truncation"},
			{Name: "twice", Strategy: "top-down-truncation", Settings: map[string]string{"model.contextLimit": "6000"}},
		}},
	)
	long, alone := r.Sessions[0], r.Sessions[1]
	once, twice := long.Variants[0], long.Variants[1]
	if long.Nothing.OverLimit == 0 || long.Nothing.OverLimit != once.UnprunedOverLimit ||
		twice.UnprunedOverLimit != 0 ||
		twice.Limits.Hard != 6000 {
		t.Errorf(
			"nothing is over %d times, and was for the variants %d and %d times", long.Nothing.OverLimit,
			once.UnprunedOverLimit, twice.UnprunedOverLimit,
		)
	}
	if once.Compressed == 0 || once.OverLimit != 0 || once.Peak > 3000 || once.Rewrites < once.Compressed ||
		once.Pruned.Tokens <= 0 {
		t.Errorf("%+v", once)
	}
	names := map[string]bool{}
	for _, s := range once.Pruned.Tools {
		names[s.Name] = true
	}
	if !names[compare.AIText] || !names[compare.HumanText] || len(once.Pruned.Files) != 0 {
		t.Errorf("%+v", once.Pruned)
	}
	if v := alone.Variants[0]; v.OverLimit != 1 || !v.Done || !v.Points[0].OverLimit || alone.Nothing.OverLimit != 1 {
		t.Errorf("%+v", v)
	}
	if total := r.Totals.Variants[0]; total.OverLimit != 1 || total.Turns != 41 ||
		total.Peak != alone.Variants[0].Peak ||
		total.Sessions != 2 {
		t.Errorf("%+v", total)
	}
}

// What cannot be sent is in no bill, is no rewrite, and does not empty the cache.
func TestRequestsThatNobodyCanSendCostNothing(t *testing.T) {
	h := open(t, map[string]any{"model.contextLimit": 3000, "model.completionBudget": 0})
	s := session("s",
		says(content.Human, "Look at it."), says(content.AI, "I do."),
		says(content.Human, strings.Repeat("word ", 4000)), says(content.AI, "Too long for me."),
		says(content.Human, strings.Repeat("word ", 4000)), says(content.AI, "That too."),
		says(content.Human, "In short?"), says(content.AI, "Fine."),
	)
	s.Transcript.System = []content.Block{content.Text{Text: strings.Repeat("Be brief. ", 30)}}
	s.Transcript.Boundaries = []transcript.Boundary{{Index: 6, Kind: transcript.BoundaryCompact}}
	r := run(t, h, compare.Options{
		Sessions: []compare.Session{s}, Prices: []*pricing.List{&cheap},
		Variants: []compare.Variant{{Strategy: "top-down-truncation"}, {Strategy: "high-density"}},
	})
	n := counts(t, h, append(s.Transcript.Entries,
		content.Content{Speaker: content.Human, Blocks: s.Transcript.System})...)
	system := n[8] // it is in every request, and in the cache after the first
	want := usd(0, system+n[0], system, n[6])
	for _, got := range append(r.Totals.Variants, r.Totals.Nothing) {
		c := got.Costs[0]
		if got.OverLimit != 2 || got.Rewrites != 0 || math.Abs(c.USD-want) > 1e-12 || math.Abs(c.Nothing-want) > 1e-12 {
			t.Errorf("%s: %d over the limit, %d rewrites, %+v, want %g USD", got.Variant, got.OverLimit, got.Rewrites,
				c, want)
		}
	}
}

func TestWhatCannotBeRunIsAnErrorInItsPlace(t *testing.T) {
	h := open(t, nil)
	broken := session(
		"broken", says(content.Human, "q"), says(content.AI, "a"),
		content.Content{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{}}},
	)
	r := run(t, h, compare.Options{
		Sessions: []compare.Session{reads(), broken},
		Prices:   []*pricing.List{&cheap},
		Variants: []compare.Variant{
			{
				Strategy: "no-such",
			}, {Strategy: "one-shot"}, {Strategy: "forgetful",
				Settings: map[string]string{"compression.density.cadenze": "x"}},
			{Name: "whole", Strategy: "forgetful"},
		},
	})
	for i, want := range []string{"no-such", "no model can be used", "cadenze"} {
		v, total := r.Sessions[0].Variants[i], r.Totals.Variants[i]
		if v.Done || !strings.Contains(v.Error, want) || total.Done || !strings.Contains(total.Error, want) ||
			total.Sessions != 0 {
			t.Errorf("%s: %q, in total %q", v.Variant, v.Error, total.Error)
		}
	}
	ran := r.Totals.Variants[3]
	if ran.Done || ran.Sessions != 1 || ran.Turns != 4 ||
		!strings.HasPrefix(ran.Error, "1 of 2 sessions failed, the first: entry 2") {
		t.Errorf("%d sessions, %q", ran.Sessions, ran.Error)
	}
	// It is held against what doing nothing costs in the sessions that it was replayed on.
	if ran.Costs[0].Nothing != r.Sessions[0].Nothing.Costs[0].USD || r.Incomplete {
		t.Errorf("%+v", ran.Costs)
	}
}

func TestAStrategyWithTheNameOfDoingNothing(t *testing.T) {
	h := open(t, nil)
	o := compare.Options{Variants: []compare.Variant{{Strategy: compare.NothingName}}}
	if r, err := compare.Run(t.Context(), h, o); err == nil || r != nil {
		t.Error(err)
	}
	if r := run(t, h, compare.Options{}); len(r.Sessions)+len(r.Variants) != 0 || r.Incomplete {
		t.Errorf("nothing with nothing: %+v", r)
	}
}

// What was stopped says what is missing; what is there is whole.
func TestAStoppedComparison(t *testing.T) {
	h := open(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var steps []int
	r, err := compare.Run(ctx, h, compare.Options{
		Sessions: []compare.Session{
			reads(), reads(),
		}, Parallel: 1, Variants: []compare.Variant{{Strategy: "forgetful"}, {Strategy: "high-density"}},
		Progress: func(done, of int) {
			if steps = append(steps, done); done == 1 {
				stop()
			}
			if of != 4 {
				t.Errorf("of %d", of)
			}
		},
	})
	if !errors.Is(err, context.Canceled) || r == nil || !r.Incomplete || !reflect.DeepEqual(steps, []int{1}) {
		t.Fatalf("%v, %+v, %v", err, r, steps)
	}
	first, second := r.Sessions[0].Variants[0], r.Sessions[0].Variants[1]
	if !first.Done || first.Turns != 4 || second.Done || second.Error != "" || second.Variant != "high-density" ||
		r.Totals.Variants[0].Sessions != 1 {
		t.Errorf("%+v\n%+v", first, second)
	}
}

// However much runs at a time, the report is the same, and it is the same each time.
func TestTheReportIsTheSameEachTime(t *testing.T) {
	h := open(t, map[string]any{"model.contextLimit": 6_000})
	o := compare.Options{Prices: lists(t, "anthropic-sonnet", "openai-gpt-5"), Variants: []compare.Variant{
		{Strategy: "forgetful"}, {Strategy: "high-density"}, {Strategy: "top-down-truncation"},
		{Strategy: "high-density", Settings: map[string]string{"compression.density.cadence": "priced"}},
	}}
	for seed := range uint64(3) {
		o.Sessions = append(o.Sessions, session(fmt.Sprint(seed), gen.Session(40, seed)...))
	}
	o.Parallel = 1
	first := run(t, h, o)
	for _, v := range first.Totals.Variants {
		if !v.Done {
			t.Fatalf("%s: %s", v.Variant, v.Error)
		}
	}
	if first.Totals.Variants[0].Recall.Share == 1 || first.Totals.Variants[2].Compressed == 0 {
		t.Fatalf("nothing happens in these sessions: %+v", first.Totals)
	}
	for _, parallel := range []int{1, 4} {
		o.Parallel = parallel
		if diff := cmp.Diff(first, run(t, h, o), alike); diff != "" {
			t.Errorf("%d at a time:\n%s", parallel, diff)
		}
	}
}

// If nothing is pruned, nothing is missing, whatever the session.
func TestRecallOfNothingPrunedIsWhole(t *testing.T) {
	race.Skip(t)
	h := open(t, map[string]any{"model.contextLimit": 100_000_000})
	rapid.Check(t, func(rt *rapid.T) {
		entries := gen.History(gen.Options{}).Draw(rt, "history")
		r, err := compare.Run(t.Context(), h, compare.Options{
			Sessions: []compare.Session{
				session("s", entries...),
			}, Variants: []compare.Variant{{Strategy: "top-down-truncation"}}, Prices: []*pricing.List{&cheap},
		})
		if err != nil {
			rt.Fatal(err)
		}
		v := r.Sessions[0].Variants[0]
		if !v.Done || v.Recall.Share != 1 || v.Recall.ShareResults != 1 || v.Rereads.Calls != 0 ||
			v.Pruned.Entries != 0 {
			rt.Fatalf("%+v", v)
		}
		if n := r.Sessions[0].Nothing; n.Turns != v.Turns || n.Unpruned != v.Unpruned ||
			math.Abs(n.Costs[0].USD-v.Costs[0].Nothing) > 1e-12 ||
			n.Recall.Used != v.Recall.Used {
			rt.Fatalf("doing nothing is not what the replay holds the strategy against: %+v, %+v", n, v)
		}
	})
}

// What was pruned is attributed to files by the directory in which the recorded agent worked: a file that it named in
// two ways is one file.
func TestFilesAreKnownByTheRecordedDirectory(t *testing.T) {
	const text = "func parseHeader(b []byte) error { return errBadMagic }"
	s := session("two names",
		says(content.Human, "Why does it fail?"),
		calls("I look at it.", "c1", "read_file", `{"file_path":"/away/a.go"}`), answers("c1", "read_file", text),
		calls("Once more.", "c2", "read_file", `{"file_path":"a.go"}`), answers("c2", "read_file", text),
		calls("And again.", "c3", "read_file", `{"file_path":"./a.go"}`), answers("c3", "read_file", text),
		says(content.AI, "I see."),
	)
	s.Transcript.Dir = "/away"
	r := run(t, open(t, nil), compare.Options{
		Sessions: []compare.Session{s}, Variants: []compare.Variant{{Strategy: "forgetful"}},
	})
	files := r.Totals.Variants[0].Pruned.Files
	if len(files) != 1 || files[0].Name != "/away/a.go" || files[0].Count != 2 {
		t.Errorf("pruned by file: %+v", files)
	}
}

// An edit needs every line that it replaces; a path that is still known is not enough. A search by the words of the call
// helps if one of its first passages has such a line.
func TestAnEditNeedsItsLines(t *testing.T) {
	for name, tt := range map[string]struct {
		others []string // results that have the words of the edit, too
		want   compare.Needs
	}{
		"found":            {nil, compare.Needs{Calls: 1, Edits: 1, Found: 1, ShareFound: 1}},
		"behind the third": {[]string{"1", "2", "3"}, compare.Needs{Calls: 1, Edits: 1}},
		"third":            {[]string{"1", "2"}, compare.Needs{Calls: 1, Edits: 1, Found: 1, ShareFound: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			entries := []content.Content{
				says(content.Human, "Rename it."),
				calls("I look at it.", "c1", "read_file", `{"file_path":"/w/a.go"}`),
				answers("c1", "read_file", "1\tfunc parseHeader() {\n2\t"+strings.Repeat("other words ", 20)),
			}
			for _, n := range tt.others {
				entries = append(entries, calls("", "o"+n, "read_file", `{"file_path":"/w/a.go"}`),
					answers("o"+n, "read_file", "func x parseHeader "+n))
			}
			entries = append(entries,
				calls("And at the other.", "c2", "read_file", `{"file_path":"/w/b.go"}`),
				answers("c2", "read_file", "package b"),
				calls("", "c3", "replace", `{"file_path":"/w/a.go","old_string":"func parseHeader() {","new_string":"x"}`))
			r := run(t, open(t, nil), compare.Options{
				Sessions: []compare.Session{session("edits", entries...)}, Variants: []compare.Variant{{Strategy: "forgetful"}},
			})
			got := []compare.Needs{r.Totals.Nothing.Needs, r.Totals.Variants[0].Needs}
			others := len(tt.others)
			tt.want.Calls, tt.want.Kept = 1+others, others
			tt.want.Share = float64(others) / float64(1+others)
			whole := compare.Needs{Calls: 1 + others, Kept: 1 + others, Share: 1, ShareFound: 1, Edits: 1, KeptEdits: 1,
				ShareEdits: 1}
			if diff := cmp.Diff([]compare.Needs{whole, tt.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
