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
// before the first byte is written. sizeX and appendX must agree byte for byte in all of this file. A wrong size shifts
// every message behind it, and the reader reports garbage far from the cause.
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

// appendEdit writes the body of a thresh.v1.Edit: index, action, reason. An edit that does not remove always has a
// Replace, even an empty one, because the reader refuses an edit without action.
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

// sizeReason returns how many bytes appendReason writes. SupersededBy bypasses sizeUint, which leaves zeros out: the
// field is optional in the protocol, so position 0 is sent and differs from an absent one.
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

// sizeBlockPiece returns how many bytes appendBlockPiece writes. Keep bypasses sizeUint, which leaves zeros out: in a
// oneof the presence of the field is the choice, so keeping block 0 must be sent too.
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

// pieceBody returns a piece's field number in the oneof and the size of its message. It is shared by sizePiece and
// appendPiece so that the length prefix cannot differ from the body. (0, 0) means a type outside the three.
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

// appendPiece writes the body of a thresh.v1.Piece: the tag and length of its alternative, then the fields.
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

// sendableEdit returns e with text that is UTF-8; see sendable. The reason needs no cleaning here: package rewrite has
// cleaned it, and a valid rule is ASCII.
func sendableEdit(e rewrite.Edit) (rewrite.Edit, error) {
	var err error
	e.Blocks, err = sendableBlocks(e.Blocks)
	return e, err
}

// sendablePiece is sendableEdit for a piece. A type outside the three, such as a pointer or nil, is [ErrBadContent]; it
// is a bug in the strategy, and the error names the type.
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

// sendableBlocks is sendable for the new blocks among the pieces. It copies the slice before the first change, because
// the pieces belong to the strategy, which may keep and reuse them.
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
