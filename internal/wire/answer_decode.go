package wire

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
)

// DecodeEdit decodes a thresh.v1.Edit. Whether indices name an entry is for package check. Errors wrap [ErrMalformed].
//
// The last of several actions wins, as proto3 requires of a oneof. An edit without any action is an error: it has an
// action of a newer peer, which this version would silently drop.
func DecodeEdit(msg []byte) (rewrite.Edit, error) {
	var e rewrite.Edit
	var action protowire.Number
	c := own(msg)
	for c.next() {
		switch c.num {
		case editIndex:
			e.Index = c.int()
		case editRemove:
			action, e.Remove, e.Blocks = c.num, true, nil
			// An empty Remove has no fields to read; the call only checks the wire type.
			c.message()
		case editReplace:
			blocks, err := decodeReplace(c.message())
			if err != nil {
				return rewrite.Edit{}, fmt.Errorf("edit of entry %d: %w", e.Index, err)
			}
			action, e.Remove, e.Blocks = c.num, false, blocks
		case editReason:
			if c.typ == protowire.BytesType {
				e.Reason = decodeReason(c.body)
			}
		}
	}
	if c.err == nil && action == 0 {
		return rewrite.Edit{}, fmt.Errorf(
			"%w: the edit of entry %d neither removes nor replaces", ErrMalformed, e.Index,
		)
	}
	return e, c.err
}

// decodeReason decodes a thresh.v1.Reason. It is advice for logs and reports, so invalid fields are dropped and never
// cost the edit. Whether SupersededBy names an entry is checked later.
func decodeReason(msg []byte) sdk.Reason {
	var r sdk.Reason
	c := cursor{rest: msg}
	for c.next() {
		switch {
		case c.num == reasonRule && c.typ == protowire.BytesType && len(c.body) <= sdk.MaxRule:
			// Clean returns "" for an invalid rule. It leaves an earlier valid one in place; an explicit empty rule
			// clears it.
			if rule := (sdk.Reason{Rule: string(c.body)}).Clean(0).Rule; rule != "" || len(c.body) == 0 {
				r.Rule = rule
			}
		case c.num == reasonSupersededBy && c.typ == protowire.VarintType && c.number <= math.MaxInt:
			r.SupersededBy = new(int(c.number))
		}
	}
	return r
}

// decodeReplace decodes the blocks of a thresh.v1.Replace. The result is never nil: replacing an entry by zero blocks
// differs from removing it, and package check refuses it with its own message.
func decodeReplace(msg []byte) ([]rewrite.BlockPiece, error) {
	blocks := make([]rewrite.BlockPiece, 0, count(msg, replaceBlocks))
	c := cursor{rest: msg}
	for c.next() {
		if c.num != replaceBlocks {
			continue
		}
		p, err := decodeBlockPiece(c.message(), refuseUnknown)
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", len(blocks), err)
		}
		blocks = append(blocks, p)
	}
	return blocks, c.err
}

// decodeBlockPiece decodes a thresh.v1.BlockPiece. A piece with neither field is refused: a new alternative of the
// oneof looks like that to this version.
func decodeBlockPiece(msg []byte, u unknown) (rewrite.BlockPiece, error) {
	var p rewrite.BlockPiece
	found := false
	c := cursor{rest: msg}
	for c.next() {
		switch c.num {
		case pieceBlockKeep:
			p, found = rewrite.BlockPiece{Keep: c.int()}, true
		case pieceBlockNew:
			b, err := decodeBlock(c.message(), u)
			if err != nil {
				return rewrite.BlockPiece{}, err
			}
			p, found = rewrite.BlockPiece{Block: b}, true
		}
	}
	if c.err == nil && !found {
		return rewrite.BlockPiece{}, fmt.Errorf("%w: it is neither a kept block nor a new one", ErrMalformed)
	}
	return p, c.err
}

// DecodePiece decodes a thresh.v1.Piece; its errors wrap [ErrMalformed]. A piece with none of the three alternatives is
// an error, because leaving it out would lose a part of the history.
func DecodePiece(msg []byte) (rewrite.Piece, error) {
	var p rewrite.Piece
	var err error
	c := own(msg)
	for c.next() {
		switch c.num {
		case pieceKeep:
			p, err = decodeKeep(c.message())
		case pieceEdited:
			p, err = decodeEdited(c.message())
		case pieceEntry:
			var a rewrite.Added
			a.Content, err = decodeContent(c.message(), refuseUnknown)
			p = a
		}
		if err != nil {
			return nil, err
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	if p == nil {
		return nil, fmt.Errorf("%w: the piece neither keeps, edits nor adds an entry", ErrMalformed)
	}
	return p, nil
}

// decodeKeep decodes a thresh.v1.KeepRange, [From, To). Zero fields are absent on the wire, so an empty message is [0,
// 0).
func decodeKeep(msg []byte) (rewrite.Keep, error) {
	var k rewrite.Keep
	c := cursor{rest: msg}
	for c.next() {
		switch c.num {
		case keepFrom:
			k.From = c.int()
		case keepTo:
			k.To = c.int()
		}
	}
	return k, c.err
}

// decodeEdited decodes a thresh.v1.EditedEntry. The index may come after the blocks, so an error can name entry 0
// although another one is meant.
func decodeEdited(msg []byte) (rewrite.Edited, error) {
	var e rewrite.Edited
	e.Blocks = make([]rewrite.BlockPiece, 0, count(msg, editedBlocks))
	c := cursor{rest: msg}
	for c.next() {
		switch c.num {
		case editedIndex:
			e.Index = c.int()
		case editedBlocks:
			p, err := decodeBlockPiece(c.message(), refuseUnknown)
			if err != nil {
				return rewrite.Edited{}, fmt.Errorf("edited entry %d, block %d: %w", e.Index, len(e.Blocks), err)
			}
			e.Blocks = append(e.Blocks, p)
		}
	}
	return e, c.err
}
