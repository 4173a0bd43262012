package wire

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/internal/rewrite"
)

// MirrorPiece is a part of a rewritten history in terms of the entries that a plugin holds: one of Kept, Edited and
// Entry.
type MirrorPiece struct {
	// Kept is a run of held entries, if the other two are nil.
	Kept rewrite.Keep
	// Edited is a held entry with other blocks; Tokens is its new size, in tokens.
	Edited *rewrite.Edited
	Tokens int
	// Entry is one that the plugin does not hold.
	Entry *Entry
}

const (
	mirrorKeep, mirrorEdited, mirrorEntry = 1, 2, 3

	mirrorEditIndex, mirrorEditTokens, mirrorEditBlocks = 1, 2, 3
)

func (e *encoder) mirrorPiece(p MirrorPiece) {
	switch {
	case p.Edited != nil:
		body := e.open(mirrorEdited)
		e.uint(mirrorEditIndex, uint64(p.Edited.Index))
		e.uint(mirrorEditTokens, uint64(p.Tokens))
		e.blockPieces(mirrorEditBlocks, p.Edited.Blocks)
		e.shut(body)
	case p.Entry != nil:
		body := e.open(mirrorEntry)
		e.entry(*p.Entry)
		e.shut(body)
	default:
		e.keep(mirrorKeep, p.Kept)
	}
}

// DecodeMirrorPiece decodes a thresh.v1.MirrorPiece. Whether positions name held entries is for the mirror. A piece
// with none of the three alternatives is an error: leaving it out would lose a part of the history. Errors wrap
// [ErrMalformed].
func DecodeMirrorPiece(msg []byte) (MirrorPiece, error) { return decodeMirrorPiece(bytes.Clone(msg)) }

func decodeMirrorPiece(msg []byte) (MirrorPiece, error) {
	var p MirrorPiece
	found := false
	c := cursor{rest: msg}
	for c.next() {
		var err error
		switch c.num {
		case mirrorKeep:
			p = MirrorPiece{}
			p.Kept, err = decodeKeep(c.message())
		case mirrorEdited:
			p, err = decodeMirrorEdit(c.message())
		case mirrorEntry:
			var e Entry
			e, err = decodeEntry(c.message())
			p = MirrorPiece{Entry: &e}
		default:
			continue
		}
		if err != nil {
			return MirrorPiece{}, err
		}
		found = true
	}
	if c.err == nil && !found {
		return p, fmt.Errorf("%w: the piece neither keeps, edits nor adds an entry", ErrMalformed)
	}
	return p, c.err
}

// decodeMirrorEdit carries blocks of kinds that only a newer host knows, as in an entry.
func decodeMirrorEdit(msg []byte) (MirrorPiece, error) {
	e := rewrite.Edited{Blocks: make([]rewrite.BlockPiece, 0, count(msg, mirrorEditBlocks))}
	p := MirrorPiece{Edited: &e}
	c := cursor{rest: msg}
	for c.next() {
		switch c.num {
		case mirrorEditIndex:
			e.Index = c.int()
		case mirrorEditTokens:
			p.Tokens = c.int()
		case mirrorEditBlocks:
			b, err := decodeBlockPiece(c.message(), carryUnknown)
			if err != nil {
				return MirrorPiece{}, fmt.Errorf("block %d: %w", len(e.Blocks), err)
			}
			e.Blocks = append(e.Blocks, b)
		}
	}
	return p, c.err
}

func (e *encoder) entry(entry Entry) {
	e.str(entryID, entry.ID)
	e.uint(entryTokens, uint64(entry.Tokens))
	body := e.open(entryContent)
	e.content(entry.Content)
	e.shut(body)
}

const (
	entryID, entryTokens, entryContent protowire.Number = 1, 2, 3
)
