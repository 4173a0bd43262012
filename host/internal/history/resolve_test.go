package history_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
)

// lines is a result of lines with these numbers.
func lines(numbers ...int) string {
	var b strings.Builder
	for _, n := range numbers {
		fmt.Fprintf(&b, "%6d\tline of a.go\n", n)
	}
	return b.String()
}

func resultOf(e *history.Entry) string {
	return e.Content.Blocks[0].(content.ToolResponse).ResultText()
}

// ls is an exchange: a call and its result.
func ls(id, result string) []content.Content {
	return []content.Content{
		{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: id, Name: "ls", Parameters: []byte(`{}`)}}},
		{Speaker: content.Tool, Blocks: []content.Block{
			content.ToolResponse{CallID: id, ToolName: "ls"}.WithResultText(result)}},
	}
}

// Where a mark says that lines stand in another result, they do, whoever changes that result: a strategy, or the host
// to make room.
func TestMarksHoldAfterARewrite(t *testing.T) {
	const mark = "[… 3 lines omitted: lines 2-4 of the result of ls above]\n"
	block := func(text string) []rewrite.BlockPiece {
		return []rewrite.BlockPiece{{Block: content.ToolResponse{CallID: "1", ToolName: "ls"}.WithResultText(text)}}
	}
	for name, tt := range map[string]struct {
		strategy string
		pieces   []rewrite.Piece
		want     string
	}{
		"it stays": {"s", []rewrite.Piece{rewrite.Keep{From: 1, To: 7}}, mark},
		"a result between them goes": {"s", []rewrite.Piece{rewrite.Keep{From: 0, To: 3}, rewrite.Keep{From: 5, To: 7}},
			mark},
		"it goes": {"s", []rewrite.Piece{rewrite.Keep{From: 0, To: 1}, rewrite.Keep{From: 3, To: 7}}, lines(2, 3, 4)},
		"it goes to make room": {"", []rewrite.Piece{rewrite.Keep{From: 0, To: 1}, rewrite.Keep{From: 3, To: 7}},
			"[… 3 lines omitted]\n"},
		"it loses other lines": {"s", []rewrite.Piece{rewrite.Keep{From: 0, To: 2},
			rewrite.Edited{Index: 2, Blocks: block("[… 1 line omitted]\n[… 0 lines]\n" + lines(2, 3, 4))},
			rewrite.Keep{From: 3, To: 7}},
			"[… 3 lines omitted: lines 3-5 of the result of ls above]\n"},
		"it loses one of the lines": {"s", []rewrite.Piece{rewrite.Keep{From: 0, To: 2},
			rewrite.Edited{Index: 2, Blocks: block(lines(1, 2, 4))}, rewrite.Keep{From: 3, To: 7}}, lines(2, 3, 4)},
	} {
		t.Run(name, func(t *testing.T) {
			entries := []content.Content{human("a")}
			for _, x := range [][]content.Content{ls("1", lines(1, 2, 3, 4)), ls("2", "x"), ls("3", lines(2, 3, 4)+"new\n")} {
				entries = append(entries, x...)
			}
			entries[3].Blocks = []content.Block{content.ToolCall{ID: "2", Name: "pwd", Parameters: []byte(`{}`)}}
			h := of(t, entries...)
			edit := []rewrite.BlockPiece{{Block: content.ToolResponse{CallID: "3", ToolName: "ls"}.
				WithResultText(mark + "new\n")}}
			plan, err := h.Snapshot().PlanOptimize(t.Context(), []rewrite.Edit{{Index: 6, Blocks: edit}}, counts)
			if err == nil {
				_, err = h.Apply(plan)
			}
			if err != nil {
				t.Fatal(err)
			}
			s := h.Snapshot()
			plan, err = s.PlanCompress(t.Context(), s.Entries, tt.strategy, tt.pieces, counts)
			if err != nil {
				t.Fatal(err)
			}
			after, err := h.Apply(plan)
			if err != nil {
				t.Fatal(err)
			}
			last := after.Entries[len(after.Entries)-1]
			if got := resultOf(last); got != tt.want+"new\n" {
				t.Errorf("got %q", got)
			}
			if err := h.Recount(count); err != nil {
				t.Error(err)
			}
		})
	}
}

// An Optimize that removes what a mark refers to brings the lines back, and a mark of another result names the place
// where they then are.
func TestPointsHoldAfterAnOptimize(t *testing.T) {
	entries := []content.Content{human("a")}
	for i, text := range []string{lines(1, 2, 3, 4), lines(2, 3, 4) + "new\nnewer\n", "new\nnewer\n"} {
		entries = append(entries, ls(fmt.Sprint(i), text)...)
	}
	h := of(t, entries...)
	block := func(id, text string) []rewrite.BlockPiece {
		return []rewrite.BlockPiece{{Block: content.ToolResponse{CallID: id, ToolName: "ls"}.WithResultText(text)}}
	}
	for _, edits := range [][]rewrite.Edit{{
		{Index: 4, Blocks: block("1", "[… 3 lines omitted: lines 2-4 of the result of ls above]\nnew\nnewer\n")},
		{Index: 6, Blocks: block("2", "[… 2 lines omitted: lines 2-3 of the result of ls above]\n")},
	}, {
		{Index: 1, Remove: true}, {Index: 2, Remove: true},
	}} {
		plan, err := h.Snapshot().PlanOptimize(t.Context(), edits, counts)
		if err == nil {
			_, err = h.Apply(plan)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	after := h.Snapshot().Entries
	if got := resultOf(after[2]); got != lines(2, 3, 4)+"new\nnewer\n" {
		t.Errorf("got %q", got)
	}
	if got := resultOf(after[4]); got != "[… 2 lines omitted: lines 4-5 of the result of ls above]\n" {
		t.Errorf("got %q", got)
	}
}

// A line that says that a file is included again later says less once it is not, unless a person wrote it.
func TestInclusionsThatAreGone(t *testing.T) {
	const again = "see\n[Earlier inclusion of a.go removed — included again later]\nand mind it"
	included := "--- /w/a.go ---\npackage a\n--- End of content ---\n"
	typed := "I read:\n[Earlier inclusion of a.go removed — included again later]\n"
	for want, pieces := range map[string][]rewrite.Piece{
		again: {rewrite.Keep{From: 0, To: 4}},
		"see\n[Earlier inclusion of a.go removed]\nand mind it": {rewrite.Keep{From: 0, To: 2},
			rewrite.Keep{From: 3, To: 4}},
	} {
		h := of(t, human("see\n"+included+"and mind it"), human(typed), human(included), says("b"))
		plan, err := h.Snapshot().PlanOptimize(t.Context(), []rewrite.Edit{{Blocks: []rewrite.BlockPiece{{
			Block: content.Text{Text: again}}}}}, counts)
		if err == nil {
			_, err = h.Apply(plan)
		}
		if err != nil {
			t.Fatal(err)
		}
		s := h.Snapshot()
		plan, err = s.PlanCompress(t.Context(), s.Entries, "s", pieces, counts)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{want, typed} {
			if got := plan.Contents()[i].Blocks[0].(content.Text).Text; got != want {
				t.Errorf("got %q", got)
			}
		}
	}
}
