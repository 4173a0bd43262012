package check_test

import (
	"errors"
	"testing"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Calls of one entry may have one id. An answer must not leave the call of one pair with the response of another.
func TestEqualIDsDoNotCross(t *testing.T) {
	for name, tools := range map[string][2]string{"two tools": {"read", "write"}, "one tool": {"read", "read"}} {
		call := func(i int) content.Block { return content.ToolCall{ID: "1", Name: tools[i]} }
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
			"a shorter response of the pair": {keep(0, 2), []rewrite.BlockPiece{{Block: response(1, "ok")}}, nil},
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
	}
}
