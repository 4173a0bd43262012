package check_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform/statements"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// drawRepeated draws an entry of the AI in which ids repeat, and the entries that answer it, between two of a person.
func drawRepeated(t *rapid.T) []content.Content {
	var calls, first, second []content.Block
	name := rapid.SampledFrom([]string{"read", "read", "write"})
	id := rapid.SampledFrom([]string{"1", "1", "1", "2"})
	for range rapid.IntRange(1, 4).Draw(t, "calls") {
		path := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "path")
		calls = append(calls, content.ToolCall{ID: id.Draw(t, "id"), Name: name.Draw(t, "tool"),
			Parameters: fmt.Appendf(nil, `{"path":%q}`, path)})
	}
	for _, c := range rapid.Permutation(calls).Draw(t, "answered") {
		call := c.(content.ToolCall)
		r := content.ToolResponse{CallID: call.ID, ToolName: call.Name, Result: []byte("null")}
		switch rapid.IntRange(0, 5).Draw(t, "result") {
		case 0:
			continue // it is never answered
		case 1, 2:
			r.Result = content.String("one\ntwo")
		case 3:
			r.Result = content.String("two\nthree")
		}
		if rapid.IntRange(0, 3).Draw(t, "later") == 0 {
			second = append(second, r)
		} else {
			first = append(first, r)
		}
	}
	history := []content.Content{person(content.Text{Text: "go"}), {Speaker: content.AI, Blocks: calls}}
	for _, blocks := range [][]content.Block{first, second} {
		if len(blocks) > 0 {
			history = append(history, content.Content{Speaker: content.Tool, Blocks: blocks})
		}
	}
	return append(history, person(content.Text{Text: "on"}))
}

// less are what an honest strategy leaves of a result: all of it, nothing but a mark, or a line.
func less(t *rapid.T, b content.Block) content.Block {
	r := b.(content.ToolResponse)
	switch rapid.IntRange(0, 4).Draw(t, "less") {
	case 0:
		r = r.WithResultText("[Result pruned — re-run tool to retrieve]")
	case 1:
		if r.ResultText() != "" {
			r = r.WithResultText(r.ResultText()[:3] + "\n[… 1 line omitted]")
		}
	}
	return r
}

// An honest strategy removes calls with their responses, and shortens results. Its answer is accepted, and found to be
// true, whether it names blocks by position or as the SDK does.
func TestRepeatedIDsDoNotRefuseAnHonestAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := drawRepeated(t)
		pairs := turns.Pair(history)
		gone := map[turns.At]bool{}
		for j := range history[1].Blocks {
			call := turns.At{Entry: 1, Block: j}
			if rapid.Bool().Draw(t, "gone") {
				gone[call] = true
				if response, ok := pairs.Response(call); ok {
					gone[response] = true
				}
			}
		}
		var removed []int
		replaced := map[int]content.Content{}
		var byPosition []rewrite.Edit
		for i := 1; i < len(history)-1; i++ {
			e, now := rewrite.Edit{Index: i}, history[i]
			now.Blocks = nil
			for j, b := range history[i].Blocks {
				if gone[turns.At{Entry: i, Block: j}] {
					continue
				}
				piece := rewrite.BlockPiece{Keep: j}
				if i > 1 {
					if left := less(t, b); !content.Equal(left, b) {
						b, piece = left, rewrite.BlockPiece{Block: left}
					}
				}
				now.Blocks, e.Blocks = append(now.Blocks, b), append(e.Blocks, piece)
			}
			if e.Remove = len(now.Blocks) == 0; e.Remove {
				removed = append(removed, i)
			} else {
				replaced[i] = now
			}
			byPosition = append(byPosition, e)
		}
		edits, err := rewrite.Edits(history, removed, replaced, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, edits := range [][]rewrite.Edit{byPosition, edits} {
			parts, err := check.Optimize(history, edits)
			if err != nil {
				t.Fatalf("%+v: %v", edits, err)
			}
			pairsHold(t, history, parts)
			trueOf(t, history, parts)
			var pieces []rewrite.Piece
			for i := range history {
				switch k := i - 1; {
				case k < 0 || i == len(history)-1:
					pieces = append(pieces, rewrite.Keep{From: i, To: i + 1})
				case len(edits) == 0 || edits[0].Index != i:
					pieces = append(pieces, rewrite.Keep{From: i, To: i + 1})
				default:
					if !edits[0].Remove {
						pieces = append(pieces, rewrite.Edited{Index: i, Blocks: edits[0].Blocks})
					}
					edits = edits[1:]
				}
			}
			if _, err := check.Compress(history, pieces); err != nil {
				t.Fatalf("a Compress: %v", err)
			}
		}
	})
}

// trueOf demands that what is written into the history is found to be true.
func trueOf(t *rapid.T, history []content.Content, parts []check.Part) {
	c := statements.New(statements.Options{Foreign: true})
	for i, e := range history {
		c.Add(statements.Entry{ID: fmt.Sprint(i), Content: e})
	}
	var view []statements.Entry
	for _, p := range parts {
		view = append(view, statements.Entry{ID: fmt.Sprint(p.Index), Content: p.Content})
	}
	for _, f := range c.Check(view).False() {
		t.Fatal(f)
	}
}

// Whatever an answer does to such a history, if it is accepted, each of its pairs is what is left of a pair of its own.
func TestRepeatedIDsDoNotHideAWrongAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := drawRepeated(t)
		var edits []rewrite.Edit
		for i := 1; i < len(history)-1; i++ {
			e := rewrite.Edit{Index: i}
			for j, b := range history[i].Blocks {
				switch rapid.IntRange(0, 3).Draw(t, "block") {
				case 0:
				case 1:
					if i > 1 {
						b = less(t, b)
					}
					e.Blocks = append(e.Blocks, rewrite.BlockPiece{Block: b})
				default:
					e.Blocks = append(e.Blocks, rewrite.BlockPiece{Keep: j})
				}
			}
			e.Remove = len(e.Blocks) == 0
			edits = append(edits, e)
		}
		if parts, err := check.Optimize(history, edits); err == nil {
			pairsHold(t, history, parts)
		}
	})
}

// pairsHold demands that each pair is less of another pair of the history, and that parts say of which.
func pairsHold(t *rapid.T, history []content.Content, parts []check.Part) {
	made := make([]content.Content, len(parts))
	for i, p := range parts {
		made[i] = p.Content
	}
	was, taken := turns.Pair(history), map[turns.At]bool{}
	for call, response := range turns.Pair(made).Answered() {
		p := parts[response.Entry]
		r := turns.At{Entry: p.Index, Block: p.Origin(response.Block)}
		asked, ok := was.Call(r)
		if !ok || taken[r] {
			t.Fatalf("%v answers %v, and is %v, which is no response or stands twice", response, call, r)
		}
		taken[r] = true
		if !content.Equal(history[asked.Entry].Blocks[asked.Block], made[call.Entry].Blocks[call.Block]) {
			t.Fatalf("%v answers %v, and answered %v", response, call, asked)
		}
		if !check.Less(history[r.Entry].Blocks[r.Block], made[response.Entry].Blocks[response.Block]) {
			t.Fatalf("%v is no part of %v", response, r)
		}
	}
}
