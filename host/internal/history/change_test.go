package history_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

func TestChangesOfAnOptimize(t *testing.T) {
	h := of(t, human("a"), calls("1", "2"), answers("1", "2"), thinks("b"), says("c"))
	keep := func(n int) []rewrite.BlockPiece { return []rewrite.BlockPiece{{Keep: n}} }
	plan, err := h.Snapshot().PlanOptimize(t.Context(), []rewrite.Edit{
		{Index: 3, Remove: true, Reason: sdk.Reason{Rule: "Not a rule", SupersededBy: new(9)}},
		{Index: 1, Blocks: keep(1), Reason: sdk.Reason{Rule: "stale-read", SupersededBy: new(4)}},
		{Index: 2, Blocks: keep(1)},
		{Index: 4, Blocks: keep(0), Reason: sdk.Reason{Rule: "changes-nothing"}},
	}, counts)
	if err != nil {
		t.Fatal(err)
	}
	want := []outcome.Change{
		{EntryID: "e2", Kind: outcome.Trimmed, Speaker: content.AI, Rule: "stale-read", By: "e5", Before: 23, After: 13,
			Calls: []string{"1", "2"}},
		{EntryID: "e3", Kind: outcome.Trimmed, Speaker: content.Tool, Before: 23, After: 13, Calls: []string{"1", "2"}},
		{EntryID: "e4", Kind: outcome.Removed, Speaker: content.AI, Before: 13},
	}
	if diff := cmp.Diff(want, plan.Changes()); diff != "" {
		t.Error(diff)
	}
}

func TestChangesOfACompress(t *testing.T) {
	h := of(t, human("a"), says(""), calls("1"), answers("1"), says("b"), human("c"))
	s := h.Snapshot()
	plan, err := s.PlanCompress(t.Context(), history.Curate(s.Entries), "test", []rewrite.Piece{
		rewrite.Added{Content: human(summary)}, rewrite.Added{Content: says("directive")}, rewrite.Edited{Index: 3,
			Blocks: []rewrite.BlockPiece{{Block: content.Text{Text: "[B]"}}}}, rewrite.Keep{From: 4, To: 5},
	}, counts)
	if err != nil {
		t.Fatal(err)
	}
	want := []outcome.Change{
		{Kind: outcome.Added, Speaker: content.Human, After: 13},
		{Kind: outcome.Added, Speaker: content.AI, After: 13},
		{EntryID: "e1", Kind: outcome.Removed, Speaker: content.Human, Before: 13},
		{EntryID: "e2", Kind: outcome.Removed, Speaker: content.AI, Rule: outcome.RuleBlank, Before: 13},
		{EntryID: "e3", Kind: outcome.Removed, Speaker: content.AI, Before: 13, Calls: []string{"1"}},
		{EntryID: "e4", Kind: outcome.Removed, Speaker: content.Tool, Before: 13, Calls: []string{"1"}},
		{EntryID: "e5", Kind: outcome.Trimmed, Speaker: content.AI, Before: 13, After: 13},
	}
	if diff := cmp.Diff(want, plan.Changes(), cmpopts.IgnoreFields(outcome.Change{}, "Made")); diff != "" {
		t.Error(diff)
	}
	if _, err := h.Apply(plan); err != nil {
		t.Fatal(err)
	}
	want[0].EntryID, want[1].EntryID, want[1].Behind = "e7", "e8", "e7"
	got := plan.Changes()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(outcome.Change{}, "Made")); diff != "" {
		t.Errorf("after Apply:\n%s", diff)
	}
	made := says("directive")
	made.Metadata = []byte(`{"madeBy":"test"}`) // or it would be taken for a person's words
	if !got[1].Made.Equal(made) {
		t.Errorf("made is %v", got[1].Made)
	}
}

func TestAnEntryWithManyCallsNamesSome(t *testing.T) {
	ids := []string{"1", "1"}
	for i := range 1000 {
		ids = append(ids, fmt.Sprint(i))
	}
	h := of(t, human("a"), calls(ids...), answers(ids...))
	plan, err := h.Snapshot().PlanOptimize(t.Context(),
		[]rewrite.Edit{{Index: 1, Remove: true}, {Index: 2, Remove: true}}, counts)
	if err != nil {
		t.Fatal(err)
	}
	got := plan.Changes()
	if len(got) != 2 || len(got[0].Calls) != outcome.MaxCalls || got[0].Calls[1] != "0" {
		t.Errorf("got %v", got)
	}
}

// What the changes say adds up to what the plan says: every entry stands, was trimmed or went, once.
func TestChangesAccountForEveryEntry(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := history.New()
		n := rapid.IntRange(1, 20).Draw(rt, "entries")
		for i := range n {
			add(h, thinks(fmt.Sprint(i)))
		}
		var edits []rewrite.Edit
		for i := range n {
			switch rapid.IntRange(0, 3).Draw(rt, "edit") {
			case 0:
				edits = append(edits, rewrite.Edit{Index: i, Remove: true})
			case 1:
				edits = append(edits, rewrite.Edit{Index: i,
					Blocks: []rewrite.BlockPiece{{Keep: 0}, {Block: content.Text{Text: "[more]"}}}})
			}
		}
		before := h.Snapshot()
		plan, err := before.PlanOptimize(t.Context(), edits, counts)
		if err != nil {
			rt.Fatal(err)
		}
		tokens, seen := before.Tokens, map[string]bool{}
		for _, c := range plan.Changes() {
			if seen[c.EntryID] {
				rt.Fatalf("%s is changed twice", c.EntryID)
			}
			seen[c.EntryID] = true
			tokens += c.After - c.Before
		}
		if len(seen) != len(edits) || tokens != plan.After {
			rt.Fatalf("%d changes to %d tokens, want %d to %d", len(seen), tokens, len(edits), plan.After)
		}
	})
}
