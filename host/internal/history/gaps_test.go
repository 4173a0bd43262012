package history_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

func TestAMarkStandsWhereWhatWasSaidIsGone(t *testing.T) {
	note := says("the model asked, and was told")
	fold := says("[Earlier tool calls, results removed: run]")
	fold.Metadata = []byte(`{"foldedCalls":2}`)
	long := func(c content.Content) content.Content { // two blocks, which count more than a mark
		c.Blocks = append(c.Blocks, content.Text{Text: "more"})
		return c
	}
	q := func(s string) content.Content { return long(human(s)) }
	a := func(s string) content.Content { return long(says(s)) }
	keep := func(from, to int) rewrite.Piece { return rewrite.Keep{From: from, To: to} }
	for name, c := range map[string]struct {
		entries []content.Content
		pieces  []rewrite.Piece
		want    string
	}{
		"an answer": {[]content.Content{q("1"), a("2"), q("3")}, []rewrite.Piece{keep(0, 1), keep(2, 3)},
			"human: 1 more|ai: [1 assistant reply was removed here]|human: 3 more"},
		"a beginning is a person's": {[]content.Content{q("1"), a("2"), q("3")}, []rewrite.Piece{keep(2, 3)},
			"human: [1 user message and 1 assistant reply were removed here]|human: 3 more"},
		"words between two answers": {[]content.Content{q("1"), a("2"), q("3"), a("4"), q("5"), a("6"), q("7")},
			[]rewrite.Piece{keep(0, 2), keep(5, 7)},
			"human: 1 more|ai: 2 more|human: [2 user messages and 1 assistant reply were removed here]|ai: 6 more|" +
				"human: 7 more"},
		"what counts less than a mark stays": {[]content.Content{q("1"), says("2"), q("3")},
			[]rewrite.Piece{keep(0, 1), keep(2, 3)}, "human: 1 more|ai: 2|human: 3 more"},
		"calls alone say nothing": {[]content.Content{q("1"), calls("1"), answers("1"), q("3")},
			[]rewrite.Piece{keep(0, 1), keep(3, 4)}, "human: 1 more|human: 3 more"},
		"a summary stands for what it replaces": {[]content.Content{q("1"), a("2"), q("3")},
			[]rewrite.Piece{rewrite.Added{Content: human(summary)}, keep(2, 3)}, "human: " + summary + "|human: 3 more"},
		"and for what is around what is pinned": {[]content.Content{q("1"), a("2"), pinned(q("3")), a("4"), q("5")},
			[]rewrite.Piece{rewrite.Added{Content: human(summary)}, keep(2, 3), keep(4, 5)},
			"human: " + summary + "|human: 3 more|human: 5 more"},
		"a strategy's own words do": {[]content.Content{q("1"), a("2"), q("3")},
			[]rewrite.Piece{keep(0, 1), rewrite.Added{Content: note}, keep(2, 3)},
			"human: 1 more|ai: the model asked, and was told|human: 3 more"},
		"but not those about calls": {[]content.Content{q("1"), a("2"), calls("1"), answers("1"), q("3")},
			[]rewrite.Piece{keep(0, 1), rewrite.Added{Content: fold}, keep(4, 5)},
			"human: 1 more|ai: [1 assistant reply was removed here]|ai: [Earlier tool calls, results removed: run]|" +
				"human: 3 more"},
		"not between a call and its result": {
			[]content.Content{q("0"), calls("1"), a("1"), answers("1"), says("2"), q("3")}, []rewrite.Piece{keep(0, 2), keep(3, 6)},
			"human: 0 more|ai: call 1|tool: answer 1|ai: [1 assistant reply was removed here]|ai: 2|human: 3 more"},
	} {
		t.Run(name, func(t *testing.T) {
			h := of(t, c.entries...)
			s := h.Snapshot()
			plan, err := s.PlanCompress(t.Context(), s.Entries, "test", c.pieces, counts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, strings.Join(sketch(plan.Contents()), "|")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func pinned(c content.Content) content.Content {
	c.Metadata = []byte(`{"pinned":true}`)
	return c
}

// Of an answer with calls the words alone may go.
func TestAMarkStandsInAnAnswerThatKeepsItsCalls(t *testing.T) {
	for said, want := range map[string]string{
		"I will look at the file that you named, and then at its tests.": "ai: [1 assistant reply was removed here] call 1",
		"Look:": "ai: Look: call 1",
	} {
		asks := calls("1")
		asks.Blocks = append([]content.Block{content.Text{Text: said}}, asks.Blocks...)
		h := of(t, human("q"), asks, answers("1"), human("q"))
		s := h.Snapshot()
		blocks := []rewrite.BlockPiece{{Keep: 1}}
		compress, err := s.PlanCompress(t.Context(), s.Entries, "test", []rewrite.Piece{rewrite.Keep{From: 0, To: 1},
			rewrite.Edited{Index: 1, Blocks: blocks}, rewrite.Keep{From: 2, To: 4}}, counts)
		if err != nil {
			t.Fatal(err)
		}
		optimize := must(s.PlanOptimize(t.Context(), []rewrite.Edit{{Index: 1, Blocks: blocks}}, counts))
		for _, p := range []*history.Plan{compress, optimize} {
			if got := sketch(p.Contents())[1]; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}

// An Optimize leaves a mark, too, and the same edits again change nothing.
func TestAnOptimizeLeavesOneMark(t *testing.T) {
	long := func(text string) content.Content {
		c := says(text)
		c.Blocks = append(c.Blocks, content.Text{Text: "more"})
		return c
	}
	h := of(t, human("1"), long("2"), calls("1"), answers("1"), long("3"), human("4"), long("5"), human("6"))
	ids := map[string]bool{}
	for _, edits := range [][]rewrite.Edit{
		{{Index: 1, Remove: true}},
		{{Index: 1, Remove: true}, {Index: 2, Remove: true}, {Index: 3, Remove: true}, {Index: 4, Remove: true}},
		{{Index: 1, Remove: true}},
	} {
		plan := must(h.Snapshot().PlanOptimize(t.Context(), edits, counts))
		for _, c := range plan.Changes() {
			ids[string(c.Kind)] = true
		}
		if _, err := h.Apply(plan); err != nil {
			t.Fatal(err)
		}
		if err := h.Recount(count); err != nil {
			t.Error(err)
		}
	}
	got := strings.Join(sketch(h.Snapshot().Contents()), "|")
	if want := "human: 1|ai: [2 assistant replies were removed here]|human: 4|ai: 5 more|human: 6"; got != want || len(ids) != 2 {
		t.Errorf("%s, changes %v", got, ids)
	}
	seen := map[string]bool{}
	for _, e := range h.Snapshot().Entries {
		if e.ID == "" || seen[e.ID] {
			t.Errorf("id %q", e.ID)
		}
		seen[e.ID] = true
	}
}

// Whatever of a history a strategy keeps, also the second time: one mark a gap, which counts what is gone there.
func TestAnyAnswerHasOneMarkAGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := gen.Busy().Draw(t, "history")
		h := history.New()
		add(h, first...)
		before := h.Snapshot()
		for range 2 {
			s := h.Snapshot()
			keep := make([]bool, len(s.Entries))
			for _, x := range turns.Exchanges(s.Contents(), nil) {
				stays := rapid.Bool().Draw(t, "keep")
				for _, i := range x.Entries {
					keep[i] = stays
				}
			}
			var pieces []rewrite.Piece
			for i, stays := range keep {
				if stays {
					pieces = append(pieces, rewrite.Keep{From: i, To: i + 1})
				}
			}
			plan, err := s.PlanCompress(t.Context(), s.Entries, "test", pieces, counts)
			if err != nil {
				continue // nothing is left
			}
			if plan.After > s.Tokens {
				t.Fatalf("%d tokens of %d:\n%s", plan.After, s.Tokens, strings.Join(sketch(plan.Contents()), "\n"))
			}
			if _, err := h.Apply(plan); err != nil {
				t.Fatal(err)
			}
		}
		left := h.Snapshot().Contents()
		bare := slices.DeleteFunc(slices.Clone(left), func(c content.Content) bool { _, mark := check.GapOf(c); return mark })
		was, with, without := turns.Check(before.Contents()), turns.Check(left), turns.Check(bare)
		if len(with) > max(len(was), len(without)) { // words behind a call at the end end it, as they did
			t.Fatalf("%v, before %v, without marks %v, in\n%s", with, was, without, strings.Join(sketch(left), "\n"))
		}
		at := map[string]int{}
		for i, e := range before.Entries {
			at[e.ID] = i
		}
		next, marks := 0, 0
		var gone, said, total check.Gap
		for _, e := range append(h.Snapshot().Entries, &history.Entry{ID: "end"}) {
			i, known := at[e.ID]
			switch _, mark := check.GapOf(e.Content); {
			case mark:
				marks++
				said.Add(e.Content)
				continue
			case e.ID == "end":
				i = len(before.Entries)
			case !known:
				t.Fatalf("who made %v", e.Content)
			}
			for ; next < i; next++ {
				gone.Add(before.Entries[next].Content)
			}
			if marks > 1 {
				t.Fatalf("%d marks for one gap, of\n%s\nin\n%s", marks, strings.Join(sketch(before.Contents()), "\n"), strings.Join(sketch(h.Snapshot().Contents()), "\n"))
			}
			next, marks = i+1, 0
			total.Join(said)
			said = check.Gap{}
		}
		if total != gone {
			t.Fatalf("marks say %+v, gone is %+v", total, gone)
		}
	})
}
