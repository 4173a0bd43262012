package history_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Views build on earlier views. Whatever happened in between, each is as if it were made from nothing, and no earlier
// one changes.
func TestViewsDoNotDependOnEarlierViews(t *testing.T) {
	type taken struct {
		view history.View
		was  []content.Content
	}
	applied := 0
	rapid.Check(t, func(t *rapid.T) {
		h := history.New()
		var views []taken
		points := []history.Point{h.Point()}
		entries := rapid.OneOf(gen.History(gen.Options{Malformed: true}), conversations()).Draw(t, "history")
		for len(entries) > 0 {
			n := rapid.IntRange(1, len(entries)).Draw(t, "added")
			add(h, entries[:n]...)
			entries = entries[n:]
			points = append(points, h.Point())
			for range rapid.IntRange(1, 5).Draw(t, "steps") {
				if rapid.Bool().Draw(t, "edit") {
					if edit(t, h) {
						applied++
					}
					continue
				}
				m := points[len(points)-1]
				if rapid.IntRange(0, 3).Draw(t, "earlier") == 0 {
					m = rapid.SampledFrom(points).Draw(t, "point")
				}
				v := h.ViewAt(&m, count)
				if diff := cmp.Diff(fresh(h.SnapshotAt(&m)), shape(v)); diff != "" {
					t.Fatalf("made from nothing it differs:\n%s", diff)
				}
				views = append(views, taken{v, slices.Clone(v.Contents())})
			}
		}
		for i, v := range views {
			for k, c := range v.view.Contents() {
				if !c.Equal(v.was[k]) || !c.Equal(v.view.Entries[k].Content) {
					t.Fatalf("entry %d of view %d changed later", k, i)
				}
			}
		}
	})
	if applied == 0 {
		t.Error("no edit was applied: the test tells nothing")
	}
}

// edit applies edits of up to four entries, removals or blocks that are left out, while an entry may be added. What may
// not be edited is refused.
func edit(t *rapid.T, h *history.History) (applied bool) {
	s := h.Snapshot()
	if len(s.Entries) == 0 {
		return false
	}
	var edits []rewrite.Edit
	positions := rapid.IntRange(0, len(s.Entries)-1)
	for _, i := range rapid.SliceOfNDistinct(positions, 1, 2, rapid.ID[int]).Draw(t, "edited") {
		e := rewrite.Edit{Index: i, Remove: rapid.Bool().Draw(t, "remove")}
		for k := range s.Entries[i].Content.Blocks {
			if !e.Remove && rapid.Bool().Draw(t, "keep") {
				e.Blocks = append(e.Blocks, rewrite.BlockPiece{Keep: k})
			}
		}
		edits = append(edits, e)
		if i+1 < len(s.Entries) && s.Entries[i+1].Content.Speaker == content.Tool { // a call goes with its response
			edits = append(edits, rewrite.Edit{Index: i + 1, Remove: true})
		}
	}
	plan, err := s.PlanOptimize(t.Context(), edits, counts)
	if err != nil {
		return false
	}
	want := plan.Contents()
	if rapid.Bool().Draw(t, "late") {
		add(h, says("late"))
		want = append(want, says("late"))
	}
	after, err := h.Apply(plan)
	if err != nil {
		return false
	}
	if diff := cmp.Diff(sketch(want), sketch(after.Contents())); diff != "" {
		t.Fatalf("the edits make something else of the history:\n%s", diff)
	}
	if err := h.Recount(count); err != nil {
		t.Fatal(err)
	}
	return len(edits) > 0
}

// conversations draws histories of what views treat differently: exchanges with and without their responses, responses
// of no call, blank entries, unknown speakers.
func conversations() *rapid.Generator[[]content.Content] {
	return rapid.Custom(func(t *rapid.T) (all []content.Content) {
		for i := range rapid.IntRange(1, 12).Draw(t, "parts") {
			id := fmt.Sprint(i)
			two := calls(id, id+"b")
			all = append(all, rapid.SampledFrom([][]content.Content{
				{human("h" + id)}, {says("a" + id)}, {says("")}, {{Speaker: "x"}}, {answers("none")},
				{calls(id), answers(id)}, {calls(id)}, {two, answers(id)}, {two, answers(id + "b"), answers(id)},
				{calls(id), human("hurry"), answers(id)}, {calls(id), says("wait"), answers(id)},
			}).Draw(t, "part")...)
		}
		return all
	})
}

// An edit, and the view after it, cost what the edit touches. Lists are copied, but nothing is made for each entry that
// stays.
func TestAnEditCostsWhatItTouches(t *testing.T) {
	made := map[int]float64{}
	for _, n := range []int{100, 2000} {
		h := history.New()
		for i := range n {
			id := fmt.Sprint(i)
			add(h, human("a"), calls(id), answers(id), says("b"))
		}
		h.View(count)
		made[n] = testing.AllocsPerRun(5, func() {
			s := h.Snapshot()
			at := 4*(n/2) + 1 // the calls in the middle
			for s.Entries[at].Content.Speaker != content.AI || s.Entries[at+1].Content.Speaker != content.Tool {
				at++
			}
			plan, err := s.PlanOptimize(t.Context(), []rewrite.Edit{{Index: at, Remove: true},
				{Index: at + 1, Remove: true}}, counts)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Apply(plan); err != nil {
				t.Fatal(err)
			}
			if len(plan.Changes()) != 2 {
				t.Error("two entries are removed")
			}
			h.View(count)
		})
	}
	if made[2000] > made[100]+10 {
		t.Errorf("allocations by the length of the history: %v", made)
	}
}

// shape is a view without what is kept for the next.
func shape(v history.View) []any {
	var ids []string
	for _, e := range v.Entries {
		ids = append(ids, e.ID)
	}
	return []any{ids, sketch(v.Contents()), v.Tokens, v.Pending, v.Problems, v.Owned, v.OwnedTokens}
}

func fresh(s history.Snapshot) []any {
	h := history.New()
	for _, e := range s.Entries {
		h.AppendEntries([]*history.Entry{e})
	}
	return shape(h.View(count))
}

// Calls with one id: a response answers the call with its tool's name, then the first. So the call that gets the made
// response is the one that no tool answered, in one turn and across turns.
func TestEqualIDsInTheView(t *testing.T) {
	call := func(tools ...string) content.Content {
		c := content.Content{Speaker: content.AI}
		for _, tool := range tools {
			c.Blocks = append(c.Blocks, content.ToolCall{ID: "1", Name: tool})
		}
		return c
	}
	answer := func(tools ...string) content.Content {
		c := content.Content{Speaker: content.Tool}
		for _, tool := range tools {
			c.Blocks = append(c.Blocks, content.ToolResponse{CallID: "1", ToolName: tool,
				Result: content.String(tool + "!")})
		}
		return c
	}
	for name, c := range map[string]struct {
		entries []content.Content
		want    []string // "tool" for a response, "tool?" for one that was made
	}{
		"by name, not by order": {[]content.Content{call("read", "write"), answer("write", "read")},
			[]string{"write", "read"}},
		"the first has no response": {[]content.Content{call("read", "write"), answer("write")},
			[]string{"write", "read?"}},
		"the second has none": {[]content.Content{call("read", "write"), answer("read")},
			[]string{"read", "write?"}},
		"of one tool, by order": {[]content.Content{call("read", "read"), answer("read")},
			[]string{"read", "read?"}},
		"another turn, answered": {[]content.Content{call("read"), answer("read"), call("write"), answer("write")},
			[]string{"read", "write"}},
		"another turn, not answered": {[]content.Content{call("read"), answer("read"), call("write")},
			[]string{"read", "write?"}},
		"the turn before has none": {[]content.Content{call("read"), human("x"), call("write"), answer("write")},
			[]string{"read?", "write"}},
	} {
		view := of(t, append(c.entries, human("and now?"))...).View(count)
		var got []string
		for _, e := range view.Contents() {
			for _, b := range e.Blocks {
				if r, ok := b.(content.ToolResponse); ok && r.Failed() {
					got = append(got, r.ToolName+"?")
				} else if ok {
					got = append(got, r.ToolName)
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Of two turns at once, the later one may end first: its view is then the earlier one of a shorter view.
func TestAShorterViewSharesWhatItHas(t *testing.T) {
	h := history.New()
	for i, c := range gen.Letters(t, "hahahaha") {
		h.AppendEntries([]*history.Entry{{ID: fmt.Sprint("e", i+1), Content: c, Count: history.Count{Tokens: 2}}})
	}
	point := history.PointOf(3, 3)
	short, long := h.ViewAt(&point, count), h.View(count)
	if entries, tokens := short.Shared(long); entries != len(short.Entries) || tokens != short.Tokens {
		t.Errorf("%d entries of %d tokens are shared, want all %d", entries, tokens, len(short.Entries))
	}
}
