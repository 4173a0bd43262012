package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// Field numbers of thresh.v1.Edit, Reason, Replace, BlockPiece, Piece, KeepRange and EditedEntry.
const (
	editIndex, editRemove, editReplace, editReason = 1, 2, 3, 4
	reasonRule, reasonSupersededBy                 = 1, 2
	replaceBlocks                                  = 1
	pieceBlockKeep, pieceBlockNew                  = 1, 2
	pieceKeep, pieceEdited, pieceEntry             = 1, 2, 3
	keepFrom, keepTo                               = 1, 2
	editedIndex, editedBlocks                      = 1, 2
)

// sizeEdit returns how many bytes appendEdit writes. Each message stands behind its length, so every size is computed
// before the first byte is written.
func sizeEdit(e rewrite.Edit) int {
	n := sizeUint(editIndex, uint64(e.Index))
	if e.Reason != (contract.Reason{}) {
		n += sizeMessage(editReason, sizeReason(e.Reason))
	}
	if e.Remove {
		return n + sizeMessage(editRemove, 0)
	}
	return n + sizeMessage(editReplace, sizeBlockPieces(replaceBlocks, e.Blocks))
}

// appendEdit writes the body of a thresh.v1.Edit: index, action, reason.
func appendEdit(dst []byte, e rewrite.Edit) []byte {
	dst = appendUint(dst, editIndex, uint64(e.Index))
	if e.Remove {
		dst = appendMessage(dst, editRemove, 0)
	} else {
		dst = appendMessage(dst, editReplace, sizeBlockPieces(replaceBlocks, e.Blocks))
		dst = appendBlockPieces(dst, replaceBlocks, e.Blocks)
	}
	if e.Reason != (contract.Reason{}) {
		dst = appendReason(appendMessage(dst, editReason, sizeReason(e.Reason)), e.Reason)
	}
	return dst
}

// A position of 0 is written too: the field is optional, which tells a zero from nothing.
func sizeReason(r contract.Reason) int {
	n := sizeString(reasonRule, r.Rule)
	if r.SupersededBy != nil {
		n += protowire.SizeTag(reasonSupersededBy) + protowire.SizeVarint(uint64(*r.SupersededBy))
	}
	return n
}

// appendReason writes the body of a thresh.v1.Reason.
func appendReason(dst []byte, r contract.Reason) []byte {
	dst = appendString(dst, reasonRule, r.Rule)
	if r.SupersededBy != nil {
		dst = protowire.AppendTag(dst, reasonSupersededBy, protowire.VarintType)
		dst = protowire.AppendVarint(dst, uint64(*r.SupersededBy))
	}
	return dst
}

// sizeBlockPieces returns what the pieces take as a repeated field.
func sizeBlockPieces(num protowire.Number, pieces []rewrite.BlockPiece) int {
	n := 0
	for _, p := range pieces {
		n += sizeMessage(num, sizeBlockPiece(p))
	}
	return n
}

// appendBlockPieces writes the pieces as the repeated field num.
func appendBlockPieces(dst []byte, num protowire.Number, pieces []rewrite.BlockPiece) []byte {
	for _, p := range pieces {
		dst = appendBlockPiece(appendMessage(dst, num, sizeBlockPiece(p)), p)
	}
	return dst
}

// A kept block at position 0 is written too: a oneof tells a zero from nothing.
func sizeBlockPiece(p rewrite.BlockPiece) int {
	if p.Block == nil {
		return protowire.SizeTag(pieceBlockKeep) + protowire.SizeVarint(uint64(p.Keep))
	}
	return sizeMessage(pieceBlockNew, sizeBlock(p.Block))
}

// appendBlockPiece writes the body of a thresh.v1.BlockPiece.
func appendBlockPiece(dst []byte, p rewrite.BlockPiece) []byte {
	if p.Block == nil {
		dst = protowire.AppendTag(dst, pieceBlockKeep, protowire.VarintType)
		return protowire.AppendVarint(dst, uint64(p.Keep))
	}
	return appendBlock(appendMessage(dst, pieceBlockNew, sizeBlock(p.Block)), p.Block)
}

// sizePiece returns how many bytes appendPiece writes.
func sizePiece(p rewrite.Piece) int {
	num, body := pieceBody(p)
	return sizeMessage(num, body)
}

// pieceBody returns the field of the oneof that a piece stands in, and the size of its message.
func pieceBody(p rewrite.Piece) (num protowire.Number, body int) {
	switch p := p.(type) {
	case rewrite.Keep:
		return pieceKeep, sizeUint(keepFrom, uint64(p.From)) + sizeUint(keepTo, uint64(p.To))
	case rewrite.Edited:
		return pieceEdited, sizeUint(editedIndex, uint64(p.Index)) + sizeBlockPieces(editedBlocks, p.Blocks)
	case rewrite.Added:
		return pieceEntry, sizeContent(p.Content)
	}
	return 0, 0 // sendablePiece lets nothing else through
}

// appendPiece writes the body of a thresh.v1.Piece.
func appendPiece(dst []byte, p rewrite.Piece) []byte {
	num, body := pieceBody(p)
	dst = appendMessage(dst, num, body)
	switch p := p.(type) {
	case rewrite.Keep:
		dst = appendUint(dst, keepFrom, uint64(p.From))
		dst = appendUint(dst, keepTo, uint64(p.To))
	case rewrite.Edited:
		dst = appendUint(dst, editedIndex, uint64(p.Index))
		dst = appendBlockPieces(dst, editedBlocks, p.Blocks)
	case rewrite.Added:
		dst = appendContent(dst, p.Content)
	}
	return dst
}

// sendableEdit returns e with text that is UTF-8; see sendable.
func sendableEdit(e rewrite.Edit) (rewrite.Edit, error) {
	var err error
	e.Blocks, err = sendableBlocks(e.Blocks)
	return e, err
}

// sendablePiece is sendableEdit for a piece. It refuses what is none of the three kinds.
func sendablePiece(p rewrite.Piece) (rewrite.Piece, error) {
	var err error
	switch p := p.(type) {
	case rewrite.Keep:
		return p, nil
	case rewrite.Edited:
		p.Blocks, err = sendableBlocks(p.Blocks)
		return p, err
	case rewrite.Added:
		p.Content, err = sendable(p.Content)
		return p, err
	default:
		return nil, fmt.Errorf("%w: a piece is a %T", ErrBadContent, p)
	}
}

// sendableBlocks is sendable for the new blocks among the pieces. It copies the slice before it changes one.
func sendableBlocks(pieces []rewrite.BlockPiece) ([]rewrite.BlockPiece, error) {
	copied := false
	for i, p := range pieces {
		if p.Block == nil {
			continue
		}
		valid, changed, err := sendableBlock(p.Block)
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
		if changed {
			if !copied {
				pieces = append([]rewrite.BlockPiece(nil), pieces...)
				copied = true
			}
			pieces[i].Block = valid
		}
	}
	return pieces, nil
}
