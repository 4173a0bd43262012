package history_test

import (
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
	rapid.Check(t, func(t *rapid.T) {
		h := history.New()
		var views []taken
		marks := []history.Mark{h.Mark()}
		for _, e := range gen.History(gen.Options{Malformed: true}).Draw(t, "history") {
			add(h, e)
			switch rapid.IntRange(0, 4).Draw(t, "then") {
			case 0:
				marks = append(marks, h.Mark())
			case 1: // what may not be removed is refused
				s := h.Snapshot()
				at := rapid.IntRange(0, len(s.Entries)-1).Draw(t, "removed")
				if plan, err := s.PlanOptimize(t.Context(), []rewrite.Edit{{Index: at, Remove: true}},
					counts); err == nil {
					if _, err := h.Apply(plan); err != nil {
						t.Fatal(err)
					}
				}
			default:
				m := rapid.SampledFrom(append(marks, h.Mark())).Draw(t, "mark")
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
