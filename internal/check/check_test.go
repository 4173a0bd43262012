package check_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Whatever a plugin answers, either it is refused with an [check.Error], or what it makes is no worse than what it was
// given: no more orphans, no call that lost its response, and in an Optimize every human entry still there.
func TestWhateverAPluginAnswers(t *testing.T) {
	histories := gen.History(gen.Options{MaxEntries: 30, Malformed: true})
	rapid.Check(t, func(t *rapid.T) {
		history := histories.Draw(t, "history")
		edits := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) rewrite.Edit { return edit(t, history) }), 0, 6).Draw(t,
			"edits")
		parts, err := check.Optimize(history, edits)
		judge(t, history, parts, err)
		if err == nil && count(history, human) != countParts(parts, human) {
			t.Fatal("a human entry is gone")
		}
		pieces := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) rewrite.Piece { return piece(t, history) }), 0,
			6).Draw(t,
			"pieces")
		parts, err = check.Compress(history, pieces)
		judge(t, history, parts, err)
		for _, p := range parts {
			if err == nil && p.Index < 0 && human(p.Content) && p.Content.Blocks[0] != content.Block(content.Text{Text: summary}) {
				t.Fatalf("a strategy speaks as a person: %+v", p)
			}
		}
	})
}

func judge(t *rapid.T, history []content.Content, parts []check.Part, err error) {
	if err != nil {
		var known *check.Error
		if !errors.As(err, &known) {
			t.Fatalf("an error of another kind: %v", err)
		}
		return
	}
	made := make([]content.Content, len(parts))
	for i, p := range parts {
		made[i] = p.Content
		if p.Edited && len(p.Kept) != len(p.Content.Blocks) {
			t.Fatalf("part %d says %d origins for %d blocks", i, len(p.Kept), len(p.Content.Blocks))
		}
	}
	before, after := turns.Pair(history), turns.Pair(made)
	if len(after.Orphans()) > len(before.Orphans()) || len(after.Pending()) > len(before.Pending()) {
		t.Fatalf("orphans %d → %d, unanswered %d → %d", len(before.Orphans()), len(after.Orphans()),
			len(before.Pending()),
			len(after.Pending()))
	}
}

func human(c content.Content) bool { return c.Speaker == content.Human }

func count(history []content.Content, is func(content.Content) bool) (n int) {
	for _, c := range history {
		if is(c) {
			n++
		}
	}
	return n
}

func countParts(parts []check.Part, is func(content.Content) bool) (n int) {
	for _, p := range parts {
		if is(p.Content) {
			n++
		}
	}
	return n
}

// index is one that is mostly of the history, and sometimes just outside of it.
func index(t *rapid.T, history []content.Content) int {
	return rapid.IntRange(-1, len(history)).Draw(t, "index")
}

func blocks(t *rapid.T, c content.Content) (pieces []rewrite.BlockPiece) {
	for i := range c.Blocks {
		switch rapid.IntRange(0, 3).Draw(t, "block") {
		case 0:
		case 1:
			pieces = append(pieces, rewrite.BlockPiece{Block: content.Text{Text: "new"}})
		default:
			pieces = append(pieces, rewrite.BlockPiece{Keep: i})
		}
	}
	return pieces
}

const summary = "<state_snapshot>we mend the parser</state_snapshot>"

func edit(t *rapid.T, history []content.Content) rewrite.Edit {
	e := rewrite.Edit{Index: index(t, history), Remove: rapid.Bool().Draw(t, "remove")}
	if !e.Remove && e.Index >= 0 && e.Index < len(history) {
		e.Blocks = blocks(t, history[e.Index])
	}
	return e
}

func piece(t *rapid.T, history []content.Content) rewrite.Piece {
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return rewrite.Added{Content: content.Content{Speaker: content.Human,
			Blocks: []content.Block{content.Text{Text: rapid.SampledFrom([]string{"new", summary}).Draw(t, "words")}}}}
	case 1:
		e := edit(t, history)
		return rewrite.Edited{Index: e.Index, Blocks: e.Blocks}
	default:
		return rewrite.Keep{From: index(t, history), To: index(t, history)}
	}
}

// A provider takes responses right after their calls only. What a strategy adds may not come between the two.
func TestNothingOfTheAIIsPutBetweenACallAndItsResponse(t *testing.T) {
	says := func(s content.Speaker, b content.Block) content.Content {
		return content.Content{Speaker: s, Blocks: []content.Block{b}}
	}
	history := []content.Content{
		says(content.AI, content.ToolCall{ID: "1", Name: "read"}),
		says(content.Human, content.Text{Text: "hurry"}),
		says(content.Tool, content.ToolResponse{CallID: "1"}),
	}
	late := append(history[:2:2], says(content.AI, content.Text{Text: "well"}), history[2])
	for name, c := range map[string]struct {
		history []content.Content
		new     content.Content
		want    error
	}{
		"the AI spoke":              {history, says(content.AI, content.Text{Text: "summary"}), check.ErrOrphaned},
		"a person spoke":            {history, says(content.Human, content.Text{Text: summary}), nil},
		"the AI had spoken already": {late, says(content.AI, content.Text{Text: "summary"}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := check.Compress(c.history, []rewrite.Piece{
				rewrite.Keep{From: 0, To: 2}, rewrite.Added{Content: c.new}, rewrite.Keep{From: 2, To: len(c.history)},
			})
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}
