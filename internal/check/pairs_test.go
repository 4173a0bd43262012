package check_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Calls of one entry may have one id. An answer must not leave the call of one pair with the response of another.
func TestEqualIDsDoNotCross(t *testing.T) {
	for name, tools := range map[string][2]string{"two tools": {"read", "write"}, "one tool": {"read", "read"}} {
		call := func(i int) content.Block {
			return content.ToolCall{ID: "1", Name: tools[i], Parameters: fmt.Appendf(nil, `{"file_path":"%d"}`, i)}
		}
		response := func(i int, result string) content.Block {
			return content.ToolResponse{CallID: "1", ToolName: tools[i], Result: content.String(result)}
		}
		history := []content.Content{
			{Speaker: content.AI, Blocks: []content.Block{content.Text{Text: "I look."}, call(0), call(1)}},
			{Speaker: content.Tool, Blocks: []content.Block{response(0, "BBB"), response(1, "done")}},
			{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: "go on"}}},
		}
		keep := func(blocks ...int) (out []rewrite.BlockPiece) {
			for _, i := range blocks {
				out = append(out, rewrite.BlockPiece{Keep: i})
			}
			return out
		}
		for what, c := range map[string]struct {
			calls, responses []rewrite.BlockPiece
			want             error
		}{
			"the first pair goes":            {keep(0, 2), keep(1), nil},
			"the second pair goes":           {keep(0, 1), keep(0), nil},
			"the response of the other":      {keep(0, 2), keep(0), check.ErrMismatched},
			"the call of the other":          {keep(0, 1), keep(1), check.ErrMismatched},
			"a shorter response of the pair": {keep(0, 2), []rewrite.BlockPiece{{Block: response(1, "[removed]")}}, nil},
		} {
			edits := []rewrite.Edit{{Index: 0, Blocks: c.calls}, {Index: 1, Blocks: c.responses}}
			if _, err := check.Optimize(history, edits); !errors.Is(err, c.want) {
				t.Errorf("%s, %s: an Optimize gives %v", name, what, err)
			}
			pieces := []rewrite.Piece{
				rewrite.Edited{Index: 0, Blocks: c.calls}, rewrite.Edited{Index: 1, Blocks: c.responses},
				rewrite.Keep{From: 2, To: 3},
			}
			if _, err := check.Compress(history, pieces); !errors.Is(err, c.want) {
				t.Errorf("%s, %s: a Compress gives %v", name, what, err)
			}
		}
		// By order, swapping the responses swaps what they answer: what is kept stays in its order.
		if _, err := check.Optimize(history, []rewrite.Edit{{Index: 1, Blocks: keep(1, 0)}}); err == nil {
			t.Errorf("%s: the responses are swapped", name)
		}
		// An entry that no edit names can answer another call, too.
		apart := []content.Content{history[0], {Speaker: content.Tool, Blocks: []content.Block{response(0, "BBB")}},
			{Speaker: content.Tool, Blocks: []content.Block{response(1, "done")}}, history[2]}
		for kept, want := range map[int]error{1: check.ErrMismatched, 2: nil} {
			edits := []rewrite.Edit{{Index: 0, Blocks: keep(0, kept)}, {Index: 1, Remove: true}}
			if _, err := check.Optimize(apart, edits); !errors.Is(err, want) {
				t.Errorf("%s: call %d with the second response gives %v", name, kept, err)
			}
		}
	}
}

// A strategy returns blocks, not positions. Where an entry holds equal ones, the SDK names the first that fits; this is
// an answer like any other, as a model reads the same.
func TestEqualBlocksStandForEachOther(t *testing.T) {
	call := func(path string) content.Block {
		return content.ToolCall{ID: "1", Name: "read", Parameters: []byte(`{"file_path":"` + path + `"}`)}
	}
	response := func(result string) content.Block {
		return content.ToolResponse{CallID: "1", ToolName: "read", Result: content.String(result)}
	}
	for name, test := range map[string]struct {
		calls, responses       []content.Block
		keptCalls, keptAnswers []int
		want                   error
	}{
		"the second of two equal calls stays": {
			[]content.Block{call("a"), call("a")}, []content.Block{response("old"), response("new")},
			[]int{1}, []int{1}, nil},
		"the first and the third stay": {
			[]content.Block{call("a"), call("a"), call("a")},
			[]content.Block{response("1"), response("2"), response("3")}, []int{0, 2}, []int{0, 2}, nil},
		"the second of two equal responses stays": {
			[]content.Block{call("a"), call("b")}, []content.Block{response("ok"), response("ok")},
			[]int{1}, []int{1}, nil},
		"both halves have equals, of other pairs": {
			[]content.Block{call("b"), call("a"), call("a")},
			[]content.Block{response("ok"), response("no"), response("ok")}, []int{2}, []int{2}, nil},
		"an unanswered call has an equal": {
			[]content.Block{call("a"), call("a")}, []content.Block{response("old")}, []int{1}, nil, nil},
		"the response of another call": {
			[]content.Block{call("a"), call("a"), call("b")},
			[]content.Block{response("1"), response("2"), response("3")}, []int{1}, []int{2}, check.ErrMismatched},
		"a pair that was there once is there twice": {
			[]content.Block{call("a"), call("a"), call("b")},
			[]content.Block{response("ok"), response("no"), response("ok")}, []int{0, 1}, []int{0, 2},
			check.ErrMismatched},
	} {
		t.Run(name, func(t *testing.T) {
			text := content.Text{Text: "I look."}
			history := []content.Content{
				{Speaker: content.AI, Blocks: append([]content.Block{text}, test.calls...)},
				{Speaker: content.Tool, Blocks: test.responses},
			}
			ai := content.Content{Speaker: content.AI, Blocks: []content.Block{text}}
			tool := content.Content{Speaker: content.Tool}
			for _, i := range test.keptCalls {
				ai.Blocks = append(ai.Blocks, test.calls[i])
			}
			for _, i := range test.keptAnswers {
				tool.Blocks = append(tool.Blocks, test.responses[i])
			}
			replaced, removed := map[int]content.Content{0: ai, 1: tool}, []int(nil)
			pieces := rewrite.Pieces(history, []content.Content{ai.WithOrigin(0), tool.WithOrigin(1)})
			if len(tool.Blocks) == 0 {
				delete(replaced, 1)
				removed, pieces = []int{1}, pieces[:1]
			}
			edits, err := rewrite.Edits(history, removed, replaced, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := check.Optimize(history, edits); !errors.Is(err, test.want) {
				t.Errorf("an Optimize gives %v, want %v; its edits are %+v", err, test.want, edits)
			}
			if _, err := check.Compress(history, pieces); !errors.Is(err, test.want) {
				t.Errorf("a Compress gives %v, want %v; its pieces are %+v", err, test.want, pieces)
			}
		})
	}
}
