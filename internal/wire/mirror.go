package wire

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/internal/rewrite"
)

// MirrorPiece is a part of a rewritten history, made of the entries that a plugin holds: one of Kept, Edited and Entry.
type MirrorPiece struct {
	// Kept is a run of entries that the plugin holds, if the other two are nil.
	Kept rewrite.Keep
	// Edited is one that it holds, with other blocks; Tokens is its size then, in tokens.
	Edited *rewrite.Edited
	Tokens int
	// Entry is one that it does not hold.
	Entry *Entry
}

// Field numbers of thresh.v1.MirrorPiece and MirrorEdit.
const (
	mirrorKeep, mirrorEdited, mirrorEntry = 1, 2, 3

	mirrorEditIndex, mirrorEditTokens, mirrorEditBlocks = 1, 2, 3
)

// MirrorPiece writes one piece of a rewritten history. A piece of several kinds is written as the first of Edited,
// Entry and Kept. Content that cannot be sent is [ErrBadContent], and nothing is written then.
func (w *Writer) MirrorPiece(p MirrorPiece) error {
	var err error
	switch {
	case p.Edited != nil:
		e := *p.Edited
		if e.Blocks, err = sendableBlocks(e.Blocks); err != nil {
			return err
		}
		body := sizeMirrorEdit(e, p.Tokens)
		w.begin(sizeMessage(mirrorEdited, body))
		w.buf = appendMirrorEdit(appendMessage(w.buf, mirrorEdited, body), e, p.Tokens)
	case p.Entry != nil:
		e := *p.Entry
		if e, err = sendableEntry(e); err != nil {
			return err
		}
		body := sizeEntry(e)
		w.begin(sizeMessage(mirrorEntry, body))
		w.buf = appendEntry(appendMessage(w.buf, mirrorEntry, body), e)
	default:
		body := sizeUint(keepFrom, uint64(p.Kept.From)) + sizeUint(keepTo, uint64(p.Kept.To))
		w.begin(sizeMessage(mirrorKeep, body))
		w.buf = appendMessage(w.buf, mirrorKeep, body)
		w.buf = appendUint(w.buf, keepFrom, uint64(p.Kept.From))
		w.buf = appendUint(w.buf, keepTo, uint64(p.Kept.To))
	}
	return w.spill()
}

// sizeMirrorEdit returns how many bytes appendMirrorEdit writes. As for all messages here, the size is needed before
// the first byte, because it stands in front.
func sizeMirrorEdit(e rewrite.Edited, tokens int) int {
	return sizeUint(mirrorEditIndex, uint64(e.Index)) + sizeUint(mirrorEditTokens, uint64(tokens)) +
		sizeBlockPieces(mirrorEditBlocks, e.Blocks)
}

// appendMirrorEdit writes the body of a thresh.v1.MirrorEdit.
func appendMirrorEdit(dst []byte, e rewrite.Edited, tokens int) []byte {
	dst = appendUint(dst, mirrorEditIndex, uint64(e.Index))
	dst = appendUint(dst, mirrorEditTokens, uint64(tokens))
	return appendBlockPieces(dst, mirrorEditBlocks, e.Blocks)
}

// DecodeMirrorPiece decodes a thresh.v1.MirrorPiece, which only a host sends. Whether positions are those of entries
// that the plugin holds is for the mirror. A piece with none of the three alternatives is an error: leaving it out
// would lose a part of the history. Errors wrap [ErrMalformed].
func DecodeMirrorPiece(msg []byte) (MirrorPiece, error) { return decodeMirrorPiece(bytes.Clone(msg)) }

// decodeMirrorPiece is DecodeMirrorPiece for a message that the result may refer to.
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

// decodeMirrorEdit decodes a thresh.v1.MirrorEdit. Blocks of kinds that only a newer host knows are carried, as in an
// entry.
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

// sizeEntry returns how many bytes appendEntry writes. The content must have passed sendable: invalid UTF-8 would be
// sent as it is, and every reader refuses it.
func sizeEntry(e Entry) int {
	return sizeString(entryID, e.ID) + sizeUint(entryTokens, uint64(e.Tokens)) +
		sizeMessage(entryContent, sizeContent(e.Content))
}

// appendEntry writes the body of a thresh.v1.Entry.
func appendEntry(dst []byte, e Entry) []byte {
	dst = appendString(dst, entryID, e.ID)
	dst = appendUint(dst, entryTokens, uint64(e.Tokens))
	return appendContent(appendMessage(dst, entryContent, sizeContent(e.Content)), e.Content)
}

// sendableEntry is sendable for an entry with its id. Ids come from the host, but a session's own may be in them.
func sendableEntry(e Entry) (Entry, error) {
	var err error
	e.ID = validUTF8(e.ID)
	e.Content, err = sendable(e.Content)
	return e, err
}

// Field numbers of thresh.v1.Entry.
const (
	entryID, entryTokens, entryContent protowire.Number = 1, 2, 3
)
