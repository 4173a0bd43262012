package wire

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// DecodeEdit decodes a thresh.v1.Edit. It does not know the history; its errors wrap [ErrMalformed].
func DecodeEdit(msg []byte) (rewrite.Edit, error) {
	var e rewrite.Edit
	var action protowire.Number
	c := cursor{rest: msg}
	for c.next() {
		switch c.num {
		case editIndex:
			e.Index = c.int()
		case editRemove:
			action, e.Remove, e.Blocks = c.num, true, nil
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
		return rewrite.Edit{}, fmt.Errorf("%w: the edit of entry %d neither removes nor replaces", ErrMalformed, e.Index)
	}
	return e, c.err
}

// decodeReason decodes a thresh.v1.Reason. It drops what is ill-formed. Positions are not compared with a history here.
func decodeReason(msg []byte) contract.Reason {
	var r contract.Reason
	c := cursor{rest: msg}
	for c.next() {
		switch {
		case c.num == reasonRule && c.typ == protowire.BytesType && len(c.body) <= contract.MaxRule:
			if rule := (contract.Reason{Rule: string(c.body)}).Clean(0).Rule; rule != "" || len(c.body) == 0 {
				r.Rule = rule
			}
		case c.num == reasonSupersededBy && c.typ == protowire.VarintType && c.number <= math.MaxInt:
			r.SupersededBy = new(int(c.number))
		}
	}
	return r
}

// decodeReplace decodes the blocks of a thresh.v1.Replace.
func decodeReplace(msg []byte) ([]rewrite.BlockPiece, error) {
	blocks := make([]rewrite.BlockPiece, 0, count(msg, replaceBlocks))
	c := cursor{rest: msg}
	for c.next() {
		if c.num != replaceBlocks {
			continue
		}
		p, err := decodeBlockPiece(c.message())
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", len(blocks), err)
		}
		blocks = append(blocks, p)
	}
	return blocks, c.err
}

// decodeBlockPiece decodes a thresh.v1.BlockPiece. New blocks of a kind that this version does not know are refused:
// the host could not keep them.
func decodeBlockPiece(msg []byte) (rewrite.BlockPiece, error) {
	var p rewrite.BlockPiece
	found := false
	c := cursor{rest: msg}
	for c.next() {
		switch c.num {
		case pieceBlockKeep:
			p, found = rewrite.BlockPiece{Keep: c.int()}, true
		case pieceBlockNew:
			b, err := decodeBlock(c.message(), refuseUnknown)
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

// DecodePiece decodes a thresh.v1.Piece. It does not know the history; its errors wrap [ErrMalformed].
func DecodePiece(msg []byte) (rewrite.Piece, error) {
	var p rewrite.Piece
	var err error
	c := cursor{rest: msg}
	for c.next() {
		switch c.num {
		case pieceKeep:
			p, err = decodeKeep(c.message())
		case pieceEdited:
			p, err = decodeEdited(c.message())
		case pieceEntry:
			var a rewrite.Added
			a.Content, err = DecodeContent(c.message())
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

// decodeKeep decodes a thresh.v1.KeepRange. Whether the range fits the history is for the check of answers.
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

// decodeEdited decodes a thresh.v1.EditedEntry.
func decodeEdited(msg []byte) (rewrite.Edited, error) {
	var e rewrite.Edited
	e.Blocks = make([]rewrite.BlockPiece, 0, count(msg, editedBlocks))
	c := cursor{rest: msg}
	for c.next() {
		switch c.num {
		case editedIndex:
			e.Index = c.int()
		case editedBlocks:
			p, err := decodeBlockPiece(c.message())
			if err != nil {
				return rewrite.Edited{}, fmt.Errorf("edited entry %d, block %d: %w", e.Index, len(e.Blocks), err)
			}
			e.Blocks = append(e.Blocks, p)
		}
	}
	return e, c.err
}
