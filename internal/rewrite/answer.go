package rewrite

import (
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Edit is one edit of an Optimize: it removes an entry or gives it new blocks.
type Edit struct {
	// Index is the position in the history that was sent.
	Index  int
	Remove bool
	// Blocks are the entry's new blocks if Remove is false.
	Blocks []BlockPiece
	Reason sdk.Reason
}

// BlockPiece is one block of an edited entry.
type BlockPiece struct {
	// Keep is the position in the original entry, if Block is nil.
	Keep int
	// Block is the new block; nil if a block is kept.
	Block content.Block
}

// Piece is a part of a compressed history: [Keep], [Edited] or [Added].
type Piece interface{ piece() }

// Keep is a run of unchanged entries of the input, [From, To).
type Keep struct{ From, To int }

// Edited is an entry of the input with other blocks.
type Edited struct {
	// Index is the position in the history that was sent.
	Index  int
	Blocks []BlockPiece
}

// Added is a new entry.
type Added struct{ Content content.Content }

func (Keep) piece()   {}
func (Edited) piece() {}
func (Added) piece()  {}
