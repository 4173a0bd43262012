package check

import (
	"slices"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Part is one entry of the history that an answer makes.
type Part struct {
	// Index is the position in the history that the strategy was given; -1 if the entry is new.
	Index int
	// Edited says that the entry has other blocks than it had. Only such an entry is counted again, as counting is the
	// most expensive thing that the host does with an entry.
	Edited bool
	// Content shares blocks with the history that the strategy was given.
	Content content.Content
	// Kept is, for each block of an edited entry, its position in the entry before; -1 if it is new. Of several equal
	// blocks it may be any.
	Kept []int
	// Of is like Kept, and also says which block of the AI or a tool a new one is less of. A response answers the call that
	// this block answered, or one that equals it.
	Of []int
}

// AllKept returns the part for an entry that keeps its blocks, and may have other metadata.
func AllKept(index int, c content.Content) Part {
	p := Part{Index: index, Edited: true, Content: c, Kept: make([]int, len(c.Blocks))}
	for i := range p.Kept {
		p.Kept[i] = i
	}
	p.Of = slices.Clone(p.Kept)
	return p
}

// Origin returns where a block of the entry was in the history; -1 if it was nowhere.
func (p Part) Origin(block int) int {
	if p.Edited {
		return p.Of[block]
	}
	return block
}

// Optimize returns the history that the edits make. The error joins everything that is wrong, each an
// [*Error]. For a history that is judged again and again use [Index.Optimize].
func Optimize(history []content.Content, edits []rewrite.Edit) ([]Part, error) {
	var x Index
	changed, err := x.Optimize(len(history), func(i int) content.Content { return history[i] }, edits)
	return Expand(history, changed), err
}

// Change is what an Optimize does to one entry.
type Change struct {
	Part
	Removed bool
}

// Expand returns the history that changes, in the order of their indexes, make.
func Expand(history []content.Content, changes []Change) []Part {
	parts := make([]Part, 0, len(history))
	for i, c := range history {
		if len(changes) == 0 || changes[0].Index != i {
			parts = append(parts, Part{Index: i, Content: c})
			continue
		}
		if !changes[0].Removed {
			parts = append(parts, changes[0].Part)
		}
		changes = changes[1:]
	}
	return parts
}

// Compress returns the history that the pieces make. The error joins everything that is wrong, each an [*Error].
// Entries that no piece keeps are gone, human ones too: summarising them is what a Compress is for.
func Compress(history []content.Content, pieces []rewrite.Piece) ([]Part, error) {
	return compress(history, pieces, false)
}

// MakeRoom is [Compress] for what the host does at the hard limit: it may cut what people said at its end.
func MakeRoom(history []content.Content, pieces []rewrite.Piece) ([]Part, error) {
	return compress(history, pieces, true)
}

func compress(history []content.Content, pieces []rewrite.Piece, cuts bool) ([]Part, error) {
	var found problems
	var parts []Part
	// Reordering would change what a response responds to, and every later request would miss the prompt cache.
	next := 0
	for i, piece := range pieces {
		switch piece := piece.(type) {
		// A strategy's entry is sent to the provider as an agent's is, so it is judged alike.
		case rewrite.Added:
			if err := Content(piece.Content); err != nil {
				found.add(&Error{Index: len(parts), New: true, Err: ErrInvalidEntry, Detail: err.Error()})
			}
			// A strategy that could pin would make its own entry unremovable, for itself and for every strategy after
			// it.
			if piece.Content.Pinned() {
				found.add(&Error{Index: len(parts), New: true, Err: ErrInvalidEntry,
					Detail: "a strategy pins nothing; a pinned entry of the history stays where it stands"})
			}
			parts = append(parts, Part{Index: -1, Content: piece.Content})
		case rewrite.Edited:
			if piece.Index < 0 || piece.Index >= len(history) {
				found.add(wrong(-1, ErrOutOfBounds, "piece %d edits entry %d of %d", i, piece.Index, len(history)))
				continue
			}
			if piece.Index < next {
				found.again(parts, piece.Index)
				continue // as below: the next piece could keep the whole history again
			}
			part := edited(&found, history[piece.Index], piece.Index, piece.Blocks, cuts)
			if !cuts {
				found.newest(history, part)
			}
			parts = append(parts, part)
			next = piece.Index + 1
		case rewrite.Keep:
			if piece.From < 0 || piece.To > len(history) || piece.From >= piece.To {
				found.add(wrong(-1, ErrOutOfBounds, "piece %d keeps [%d, %d) of %d entries", i, piece.From, piece.To,
					len(history)))
				continue
			}
			if piece.From < next {
				found.again(parts, piece.From)
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
	found.madeUp(history, parts)
	found.people(history, parts)
	if len(found) == 0 {
		found.pairs(history, parts)
	}
	return parts, found.err()
}

// Late judges whether entries that the agent added while the strategy worked still fit behind the new history: a
// response may need a call that the answer dropped. If not, the host drops the answer and keeps the old history.
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

// again finds a piece that begins before the end of the one before: its entry was kept already, or passed over.
func (p *problems) again(parts []Part, index int) {
	err := ErrOutOfOrder
	if len(*p) < maxProblems && slices.ContainsFunc(parts, func(x Part) bool { return x.Index == index }) {
		err = ErrTwice
	}
	p.add(&Error{Index: index, Err: err})
}

func (p *problems) pinned(history []content.Content, parts []Part) {
	next := 0
	gone := func(to int) {
		for ; next < to; next++ {
			if history[next].Pinned() {
				p.add((&Error{Index: next, Err: ErrPinned, Detail: "it is gone"}).quoted(describe(history[next].Blocks...), ""))
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

// edited returns an entry with the blocks that an answer gave it, and reports what is wrong with the edit by itself.
// Faults do not stop it: the part can be used for further checks. cuts allows to cut what people said at its end.
func edited(found *problems, c content.Content, index int, pieces []rewrite.BlockPiece, cuts bool) Part {
	// from is Part.Kept; kept is its inverse, for the opaque blocks that must all be there.
	blocks, from := make([]content.Block, 0, len(pieces)), make([]int, 0, len(pieces))
	kept := make([]bool, len(c.Blocks))
	next := 0
	for i, piece := range pieces {
		switch {
		case piece.Block != nil:
			if _, err := block(c.Speaker, piece.Block, rawjson.Valid); err != nil {
				found.add(wrong(index, ErrInvalidEntry, "block %d: %v", i, err))
			}
			blocks, from = append(blocks, piece.Block), append(from, -1)
		case piece.Keep < 0 || piece.Keep >= len(c.Blocks):
			found.add(wrong(index, ErrOutOfBounds, "block %d of %d", piece.Keep, len(c.Blocks)))
		case piece.Keep < next && kept[piece.Keep]:
			found.add(wrong(index, ErrTwice, "block %d", piece.Keep))
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
	part := Part{Index: index, Edited: true, Content: out, Kept: from, Of: slices.Clone(from)}
	quote := func(e *Error) *Error { return e.quoted(describe(c.Blocks...), describe(blocks...)) }
	if c.Pinned() {
		found.add(quote(wrong(index, ErrPinned, "it was changed")))
	}
	switch {
	// Otherwise this would be a removal in disguise. A blank entry may stay blank.
	case c.Speaker == content.Human && c.HasContent() && !out.HasContent():
		found.add(quote(wrong(index, ErrHumanLost, "it was replaced by nothing")))
	// Providers refuse a message without content.
	case len(blocks) == 0:
		found.add(wrong(index, ErrInvalidEntry, "no blocks are left: remove it instead"))
	case c.Speaker != content.Human:
		found.less(c.Blocks, part)
	case !reduced(c.Blocks, blocks) && !(cuts && cutAtEnd(c.Blocks, blocks)):
		found.add(quote(&Error{Index: index, Err: ErrHumanChanged}))
	}
	if len(*found) == 0 {
		part.Content = recorded(c, part)
	}
	return part
}

// isOpaque reports whether b is of an unknown kind. Strategies must leave such blocks alone: what they mean to the
// agent is not known here.
func isOpaque(b content.Block) bool { _, opaque := b.(content.Opaque); return opaque }
