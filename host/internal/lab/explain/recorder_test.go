package explain_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/lab/explain"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

func taxonomy(tb testing.TB) *tools.Taxonomy {
	tb.Helper()
	t, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func says(speaker content.Speaker, text string) content.Content {
	return content.Content{Speaker: speaker, Blocks: []content.Block{content.Text{Text: text}}}
}

// ten is what every entry counts in these tests.
func ten(int) int { return 10 }

func TestRecorder(t *testing.T) {
	file := &transcript.Transcript{
		Lines: []int{2, 3, 4, 5, 6}, Boundaries: []transcript.Boundary{{Index: 4, Kind: transcript.BoundaryCompact}},
	}
	for i := range 5 {
		file.Entries = append(file.Entries, says(content.Human, fmt.Sprint("entry ", i)))
	}
	r := explain.NewRecorder(file, ten, taxonomy(t))
	r.Entry(0, "e1")
	r.Entry(1, "e2")
	r.Turn(
		2,
		[]outcome.Change{
			{EntryID: "e1", Kind: outcome.Trimmed, Step: "optimize", Rule: "old", By: "e2", Before: 10, After: 4},
		},
		[]outcome.Problem{{Kind: outcome.OrphanedResponse, EntryID: "e2", CallID: "c"}},
	)
	r.Entry(2, "e3")
	summary := says(content.Human, "what was said so far")
	r.Turn(3, []outcome.Change{
		{EntryID: "e2", Kind: outcome.Kept, Step: outcome.StepKeep, Rule: "CLAUDE.md", Before: 10, After: 10},
		{EntryID: "e3", Kind: outcome.Kept, Step: outcome.StepKeep, Rule: "<keep>", Before: 10, After: 10},
		{EntryID: "e1", Kind: outcome.Removed, Step: "compress", By: "e4", Before: 4},
		{
			EntryID: "e4", Kind: outcome.Added, Step: "compress", Behind: "e2", Speaker: content.Human, After: 3,
			Made: &summary,
		},
	}, []outcome.Problem{{Kind: outcome.OrphanedResponse, EntryID: "e2", CallID: "c"}})
	r.Entry(3, "e5")
	pinned := says(content.Human, "entry 4")
	pinned.Metadata = []byte(`{"pinned":true}`)
	file.Entries[4] = pinned
	r.Entry(4, "e1") // of the session that began where the recorder compacted
	r.Turn(5, nil, nil)

	compacted := explain.Event{
		Turn: 3, Kind: outcome.Removed, Step: explain.StepRecorder, Rule: explain.RuleCompacted, Before: 10,
	}
	entry := func(i int, s explain.State) explain.Entry {
		s.Speaker, s.What, s.Tokens = content.Human, fmt.Sprintf(`"entry %d"`, i), 10
		return explain.Entry{Index: i, Line: i + 2, State: s}
	}
	want := explain.Explanation{
		Turns: 3, Tokens: 50, Now: 10,
		Entries: []explain.Entry{
			entry(0, explain.State{Status: explain.Removed, Events: []explain.Event{
				{Turn: 1, Kind: outcome.Trimmed, Step: "optimize", Rule: "old", By: new(1), Before: 10, After: 4},
				{Turn: 2, Kind: outcome.Removed, Step: "compress", ByMade: new(0), Before: 4},
			}}),
			entry(1, explain.State{Status: explain.Removed, Events: []explain.Event{compacted},
				Problems: []explain.Problem{{Turn: 1, Kind: outcome.OrphanedResponse, CallID: "c"}}}),
			entry(2, explain.State{Status: explain.Removed, Events: []explain.Event{compacted}}),
			entry(3, explain.State{Status: explain.Removed, Events: []explain.Event{compacted}}),
			entry(4, explain.State{Status: explain.Kept, Now: 10, KeptBy: explain.KeptByAgent}),
		},
		Made: []explain.Made{{Turn: 2, Step: "compress", After: 1, State: explain.State{
			Speaker: content.Human, What: `"what was said so far"`, Tokens: 3, Status: explain.Removed,
			Events: []explain.Event{
				{Turn: 3, Kind: outcome.Removed, Step: explain.StepRecorder, Rule: explain.RuleCompacted, Before: 3},
			},
		}}},
		Rules: []explain.Rule{
			{Step: "recorder", Rule: "compacted", Removed: 4, Saved: 33},
			{Step: "optimize", Rule: "old", Trimmed: 1, Saved: 6},
			{Step: "compress", Removed: 1, Made: 1, Saved: 1},
		},
	}
	if diff := cmp.Diff(want, r.Explanation()); diff != "" {
		t.Error(diff)
	}
}

// Whatever is done to a history, every entry of the file is accounted for once, and the tokens add up to the history's.
func TestEverythingIsAccountedFor(t *testing.T) {
	count := func(_ context.Context, entries []content.Content) ([]history.Count, error) {
		out := make([]history.Count, len(entries))
		for i, c := range entries {
			out[i] = history.Count{Tokens: 10 * len(c.Blocks), Blocks: make([]int32, len(c.Blocks))}
			for j := range c.Blocks {
				out[i].Blocks[j] = 10
			}
		}
		return out, nil
	}
	none := taxonomy(t)
	rapid.Check(t, func(rt *rapid.T) {
		file := &transcript.Transcript{}
		for i := range rapid.IntRange(0, 30).Draw(rt, "entries") {
			c := says(content.AI, fmt.Sprint(i))
			for range rapid.IntRange(0, 2).Draw(rt, "blocks") {
				c.Blocks = append(c.Blocks, content.Text{Text: "more"})
			}
			file.Entries = append(file.Entries, c)
		}
		counts, _ := count(t.Context(), file.Entries)
		r := explain.NewRecorder(file, func(i int) int { return counts[i].Tokens }, none)
		h := history.New()
		turn := func(at int) {
			plan := draw(rt, h.Snapshot(), count)
			if _, err := h.Apply(plan); err != nil {
				rt.Fatal(err)
			}
			changes := plan.Changes()
			for i := range changes {
				changes[i].Step = "step"
			}
			r.Turn(at, changes, nil)
		}
		for i, c := range file.Entries {
			if rapid.Bool().Draw(rt, "turn") {
				turn(i)
			}
			h.Append([]content.Content{c}, counts[i:i+1])
			ids := h.Snapshot().Entries
			r.Entry(i, ids[len(ids)-1].ID)
		}
		turn(len(file.Entries))

		got := r.Explanation()
		if len(got.Entries) != len(file.Entries) || got.Now != h.Snapshot().Tokens {
			rt.Fatalf(
				"%d of %d entries, %d tokens of %d", len(got.Entries), len(file.Entries), got.Now,
				h.Snapshot().Tokens,
			)
		}
		saved, left := 0, 0
		for _, rule := range got.Rules {
			saved += rule.Saved
		}
		for i, e := range got.Entries {
			if e.Index != i || (e.Status == explain.Kept) != (len(e.Events) == 0) ||
				e.Status == explain.Removed && e.Now != 0 {
				rt.Fatalf("entry %d: %+v", i, e)
			}
			if e.Status != explain.Removed {
				left++
			}
		}
		for _, m := range got.Made {
			if m.Status != explain.Removed {
				left++
			}
		}
		if got.Tokens-saved != got.Now || left != len(h.Snapshot().Entries) {
			rt.Fatalf(
				"%d tokens less %d saved are not %d; %d entries are left of %d", got.Tokens, saved, got.Now, left,
				len(h.Snapshot().Entries),
			)
		}
	})
}

// draw draws a rewrite of a history.
func draw(rt *rapid.T, s history.Snapshot, count history.Counter) *history.Plan {
	if len(s.Entries) == 0 || rapid.Bool().Draw(rt, "optimize") {
		var edits []rewrite.Edit
		for i, e := range s.Entries {
			switch rapid.IntRange(0, 4).Draw(rt, "edit") {
			case 0:
				edits = append(edits, rewrite.Edit{
					Index: i, Remove: true,
					Reason: sdk.Reason{Rule: "gone", SupersededBy: new(len(s.Entries) - 1)},
				})
			case 1:
				edits = append(
					edits, rewrite.Edit{Index: i, Blocks: []rewrite.BlockPiece{{Keep: len(e.Content.Blocks) - 1}}},
				)
			}
		}
		plan, err := s.PlanOptimize(rt.Context(), edits, count)
		if err != nil {
			rt.Fatal(err)
		}
		return plan
	}
	from := rapid.IntRange(0, len(s.Entries)-1).Draw(rt, "from")
	plan, err := s.PlanCompress(
		rt.Context(),
		s.Entries, "test",
		[]rewrite.Piece{
			rewrite.Added{Content: says(content.AI, "summary")}, rewrite.Keep{From: from, To: len(s.Entries)},
		},
		count,
	)
	if err != nil {
		rt.Fatal(err)
	}
	return plan
}
