package check

import (
	"slices"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Part is one entry of the history that an answer makes.
type Part struct {
	// Index is the entry's position in the history that the strategy was given; -1: it is new.
	Index int
	// Edited says that the entry has other blocks than it had.
	Edited  bool
	Content content.Content
	// Kept says for each block of an edited entry where it stood in the entry before; -1: it is new.
	Kept []int
	// Made says that the entry is new, or that it is a person's and its edit did more than take parts out of it.
	Made bool
}

// Optimize returns the history that the edits make (REQ-HD-003): replacements first, then removals from the highest
// index down, which one walk from the lowest comes to as well. The error joins everything that is wrong, each an
// [*Error].
func Optimize(history []content.Content, edits []rewrite.Edit) ([]Part, error) {
	var found problems
	byIndex := make(map[int]*rewrite.Edit, len(edits))
	for i := range edits {
		e := &edits[i]
		switch {
		case e.Index < 0 || e.Index >= len(history):
			found.add(wrong(-1, ErrOutOfBounds, "index %d, the history has %d entries", e.Index, len(history)))
		case byIndex[e.Index] != nil:
			found.add(&Error{Index: e.Index, Err: ErrConflict})
		default:
			byIndex[e.Index] = e
		}
	}
	newest := newestHuman(history)
	parts := make([]Part, 0, len(history))
	for i, c := range history {
		e := byIndex[i]
		switch {
		case e == nil:
			parts = append(parts, Part{Index: i, Content: c})
		case e.Remove:
			if c.Pinned() {
				found.add(&Error{Index: i, Err: ErrPinned})
			}
			if c.Speaker == content.Human {
				found.add(&Error{Index: i, Err: ErrHumanLost})
			}
			if slices.ContainsFunc(c.Blocks, isOpaque) {
				found.add(&Error{Index: i, Err: ErrOpaqueChanged})
			}
		default:
			part := edited(&found, c, i, e.Blocks)
			parts = append(parts, part)
			switch {
			case c.Speaker != content.Human:
			case part.Made:
				found.add(wrong(i, ErrHumanChanged, "whole lines may go, each run of them with a line like "+
					"\"[3 lines removed]\" in its place; all other lines stay as they are"))
			case i == newest && !repeatsItself(c, part.Content):
				found.add(wrong(i, ErrHumanChanged, "it is the newest thing a person said, which stays as it is"))
			}
		}
	}
	if len(found) == 0 && len(edits) > 0 {
		found.pairs(history, parts)
	}
	return parts, found.err()
}

// Compress returns the history that the pieces make. The error joins everything that is wrong, each an [*Error].
func Compress(history []content.Content, pieces []rewrite.Piece) ([]Part, error) {
	var found problems
	var parts []Part
	next := 0 // the first entry that may still be kept
	for i, piece := range pieces {
		switch piece := piece.(type) {
		case rewrite.Added:
			if err := Content(piece.Content); err != nil {
				found.add(&Error{Index: len(parts), New: true, Err: ErrInvalidEntry, Detail: err.Error()})
			}
			if piece.Content.Pinned() {
				found.add(&Error{Index: len(parts), New: true, Err: ErrInvalidEntry,
					Detail: "a strategy pins nothing; a pinned entry of the history stays where it stands"})
			}
			parts = append(parts, Part{Index: -1, Content: piece.Content, Made: true})
		case rewrite.Edited:
			if piece.Index < 0 || piece.Index >= len(history) {
				found.add(wrong(-1, ErrOutOfBounds, "piece %d edits entry %d of %d", i, piece.Index, len(history)))
				continue
			}
			if piece.Index < next {
				found.add(&Error{Index: piece.Index, Err: ErrOutOfOrder})
			}
			parts = append(parts, edited(&found, history[piece.Index], piece.Index, piece.Blocks))
			next = piece.Index + 1
		case rewrite.Keep:
			if piece.From < 0 || piece.To > len(history) || piece.From >= piece.To {
				found.add(wrong(-1, ErrOutOfBounds, "piece %d keeps [%d, %d) of %d entries", i, piece.From, piece.To,
					len(history)))
				continue
			}
			if piece.From < next {
				found.add(&Error{Index: piece.From, Err: ErrOutOfOrder})
				continue // many such pieces would make a history of any size
			}
			for k := piece.From; k < piece.To; k++ {
				parts = append(parts, Part{Index: k, Content: history[k]})
			}
			next = piece.To
		}
	}
	found.pinned(history, parts)
	if len(parts) == 0 && len(history) > 0 {
		found.add(&Error{Index: -1, Err: ErrEmptied})
	}
	if len(found) == 0 {
		found.pairs(history, parts)
	}
	return parts, found.err()
}

// Late judges whether entries that were added after the history was sent still fit behind what the answer made of it: a
// response may need a call that the answer dropped.
func Late(history []content.Content, parts []Part, late []content.Content) error {
	if len(late) == 0 {
		return nil
	}
	before := append(slices.Clone(history), late...)
	after := slices.Clone(parts)
	for i, c := range late {
		after = append(after, Part{Index: len(history) + i, Content: c})
	}
	var found problems
	found.pairs(before, after)
	return found.err()
}

// pinned finds pinned entries that a Compress did not keep.
func (p *problems) pinned(history []content.Content, parts []Part) {
	next := 0
	gone := func(to int) {
		for ; next < to; next++ {
			if history[next].Pinned() {
				p.add(&Error{Index: next, Err: ErrPinned})
			}
		}
	}
	for _, part := range parts {
		if part.Index >= next {
			gone(part.Index)
			next++
		}
	}
	gone(len(history))
}

// edited returns an entry with the blocks that an answer gave it.
func edited(found *problems, c content.Content, index int, pieces []rewrite.BlockPiece) Part {
	blocks, from := make([]content.Block, 0, len(pieces)), make([]int, 0, len(pieces))
	kept := make([]bool, len(c.Blocks))
	next := 0
	for i, piece := range pieces {
		switch {
		case piece.Block != nil:
			if err := block(c.Speaker, piece.Block); err != nil {
				found.add(wrong(index, ErrInvalidEntry, "block %d: %v", i, err))
			}
			blocks, from = append(blocks, piece.Block), append(from, -1)
		case piece.Keep < 0 || piece.Keep >= len(c.Blocks):
			found.add(wrong(index, ErrOutOfBounds, "block %d of %d", piece.Keep, len(c.Blocks)))
		case piece.Keep < next:
			found.add(wrong(index, ErrOutOfOrder, "block %d", piece.Keep))
		default:
			next, kept[piece.Keep] = piece.Keep+1, true
			blocks, from = append(blocks, c.Blocks[piece.Keep]), append(from, piece.Keep)
		}
	}
	for i, b := range c.Blocks {
		if isOpaque(b) && !kept[i] {
			found.add(wrong(index, ErrOpaqueChanged, "block %d", i))
		}
	}
	out := c
	out.Blocks = blocks
	if c.Pinned() {
		found.add(&Error{Index: index, Err: ErrPinned})
	}
	switch {
	case c.Speaker == content.Human && c.HasContent() && !out.HasContent():
		found.add(wrong(index, ErrHumanLost, "it was replaced by nothing"))
	case len(blocks) == 0:
		found.add(wrong(index, ErrInvalidEntry, "no blocks are left: remove it instead"))
	}
	return Part{
		Index: index, Edited: true, Content: out, Kept: from,
		Made: c.Speaker == content.Human && !reduced(c.Blocks, blocks, from),
	}
}

// isOpaque reports whether b is of a kind that this version does not know. Strategies must leave such blocks alone:
// what they mean to the agent is not known here.
func isOpaque(b content.Block) bool { _, opaque := b.(content.Opaque); return opaque }
