package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
)

const (
	editIndex, editRemove, editReplace, editReason = 1, 2, 3, 4
	reasonRule, reasonSupersededBy                 = 1, 2
	replaceBlocks                                  = 1
	pieceBlockKeep, pieceBlockNew                  = 1, 2
	pieceKeep, pieceEdited, pieceEntry             = 1, 2, 3
	keepFrom, keepTo                               = 1, 2
	editedIndex, editedBlocks                      = 1, 2
)

// edit writes the body of a thresh.v1.Edit. An edit that does not remove always has a Replace, even an empty one,
// because the reader refuses an edit without action. Package rewrite has cleaned the reason.
func (e *encoder) edit(edit rewrite.Edit) {
	e.uint(editIndex, uint64(edit.Index))
	if edit.Remove {
		e.present(editRemove, nil)
	} else {
		body := e.open(editReplace)
		e.blockPieces(replaceBlocks, edit.Blocks)
		e.shut(body)
	}
	if edit.Reason != (sdk.Reason{}) {
		body := e.open(editReason)
		e.str(reasonRule, edit.Reason.Rule)
		if by := edit.Reason.SupersededBy; by != nil {
			e.number(reasonSupersededBy, uint64(*by)) // optional: position 0 differs from an absent one
		}
		e.shut(body)
	}
}

func (e *encoder) blockPieces(num protowire.Number, pieces []rewrite.BlockPiece) {
	for i, p := range pieces {
		body := e.open(num)
		if p.Block == nil {
			e.number(pieceBlockKeep, uint64(p.Keep))
		} else {
			e.blockAt(pieceBlockNew, i, p.Block)
		}
		e.shut(body)
	}
}

// piece writes the body of a thresh.v1.Piece. A type outside the three, such as a pointer or nil, is [ErrBadContent].
func (e *encoder) piece(p rewrite.Piece) {
	switch p := p.(type) {
	case rewrite.Keep:
		e.keep(pieceKeep, p)
	case rewrite.Edited:
		body := e.open(pieceEdited)
		e.uint(editedIndex, uint64(p.Index))
		e.blockPieces(editedBlocks, p.Blocks)
		e.shut(body)
	case rewrite.Added:
		body := e.open(pieceEntry)
		e.content(p.Content)
		e.shut(body)
	default:
		e.err = fmt.Errorf("%w: a piece is a %T", ErrBadContent, p)
	}
}

func (e *encoder) keep(num protowire.Number, k rewrite.Keep) {
	body := e.open(num)
	e.uint(keepFrom, uint64(k.From))
	e.uint(keepTo, uint64(k.To))
	e.shut(body)
}
