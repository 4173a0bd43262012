package check_test

import (
	"errors"
	"testing"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
)

// A few bytes of an answer must not become a history of any size, also where the answer is refused in the end.
func TestAnAnswerOutOfOrderMakesNoLongHistory(t *testing.T) {
	const n = 1000
	history := make([]content.Content, n)
	for i := range history {
		history[i] = content.Content{Speaker: content.AI, Blocks: []content.Block{content.Text{Text: "x"}}}
	}
	var pieces []rewrite.Piece
	for range n {
		pieces = append(pieces, rewrite.Edited{Index: 0, Blocks: []rewrite.BlockPiece{{Keep: 0}}},
			rewrite.Keep{From: 1, To: n})
	}
	parts, err := check.Compress(history, pieces)
	if !errors.Is(err, check.ErrTwice) || len(parts) > 2*n {
		t.Errorf("%d entries of %d, %v", len(parts), n, err)
	}
}
