package check

import (
	"slices"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Part is one entry of the history that an answer makes.
type Part struct {
	// Index is the entry's position in the history that the strategy was given; -1: it is new. The host finds by it
	// what it already knows about the entry: its id, its token count, its size.
	Index int
	// Edited says that the entry has other blocks than it had. Only such an entry is counted again:
	// counting is the most expensive thing that the host does with an entry.
	Edited bool
	// Content is the entry as it is from now on. It shares blocks with the history that the strategy was given.
	Content content.Content
	// Kept says for each block of an edited entry where it stood in the entry before; -1: it is new. The host
	// takes the known counts of kept blocks by it, and records what became of each.
	Kept []int
	// Made says that the entry is new, or that it is a person's and its edit did more than take parts out of it. The
	// host marks such an entry ([MarkMade]), so that a summary is never taken for a person's or the model's own words.
	Made bool
}

// Optimize returns the history that the edits make (REQ-HD-003). The error joins everything that is wrong, each an
// [*Error]. For a history that is judged again and again, [Index.Optimize] does the same in the time of the edits.
func Optimize(history []content.Content, edits []rewrite.Edit) ([]Part, error) {
	var x Index
	changed, err := x.Optimize(len(history), func(i int) content.Content { return history[i] }, edits)
	return Expand(history, changed), err
}

// Change is what an Optimize does to one entry: the part that is left of it, or that it is removed.
type Change struct {
	Part
	Removed bool
}

// Expand returns the history that changes make, which are in the order of their indexes.
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

// Compress returns the history that the pieces make. The error joins everything that is wrong, each an [*Error]. Pieces
// stand in the order of the new history. Entries that no piece keeps are gone, which is why there is no fault "human
// entry lost" here: summarising them is what a Compress is for, and it carries their words in its summary.
func Compress(history []content.Content, pieces []rewrite.Piece) ([]Part, error) {
	var found problems
	var parts []Part
	// Kept entries must ascend. An answer that reorders a conversation would change what a response responds to, and
	// every request of the agent would miss the prompt cache.
	next := 0 // the first entry that may still be kept
	for i, piece := range pieces {
		switch piece := piece.(type) {
		// What a strategy adds is judged as an entry from an agent would be: it goes to the provider in the same way.
		case rewrite.Added:
			if err := Content(piece.Content); err != nil {
				found.add(&Error{Index: len(parts), New: true, Err: ErrInvalidEntry, Detail: err.Error()})
			}
			// A pin is the agent's means to protect an entry from strategies. A strategy that could set it would make
			// its own entry unremovable, for itself and for every strategy after it.
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
			// Reported once for the piece, not for each entry in it.
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
	// Pins are checked even if other faults were found, as they need only the indexes, which are in bounds by now.
	found.pinned(history, parts)
	// An empty history has nothing that a provider could answer.
	if len(parts) == 0 && len(history) > 0 {
		found.add(&Error{Index: -1, Err: ErrEmptied})
	}
	found.madeUp(history, parts)
	if len(found) == 0 {
		found.pairs(history, parts)
	}
	return parts, found.err()
}

// Late judges whether entries that were added after the history was sent still fit behind what the answer made of it: a
// response may need a call that the answer dropped. Late entries are those that the agent added while the strategy
// worked on its answer. They stay as they are behind the new history. If the answer does not fit, the host drops it and
// keeps the old history: nothing is lost but the work.
func Late(history []content.Content, parts []Part, late []content.Content) error {
	if len(late) == 0 {
		return nil
	}
	// The late entries take the positions after the history, as if the strategy had been given them and had kept them.
	before := append(slices.Clone(history), late...)
	after := slices.Clone(parts)
	for i, c := range late {
		after = append(after, Part{Index: len(history) + i, Content: c})
	}
	var found problems
	found.pairs(before, after)
	return found.err()
}

// pinned finds pinned entries that a Compress did not keep. Parts that are out of order are skipped, because they were
// reported already.
func (p *problems) pinned(history []content.Content, parts []Part) {
	next := 0
	// gone reports the pinned entries from next up to to, which no part keeps.
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

// edited returns an entry with the blocks that an answer gave it. It reports what is wrong with the edit by itself: a
// block position that is out of bounds or out of order, a new block that is not valid for the speaker, a lost opaque
// block, a pinned entry. Whether a person's words survived is left to the caller, as Optimize and Compress differ in
// it; the returned part says so in Made. Found faults do not stop it, so that the part can be used for further checks.
func edited(found *problems, c content.Content, index int, pieces []rewrite.BlockPiece) Part {
	// from is Part.Kept; kept is its inverse, for the opaque blocks that must all be there.
	blocks, from := make([]content.Block, 0, len(pieces)), make([]int, 0, len(pieces))
	kept := make([]bool, len(c.Blocks))
	next := 0
	for i, piece := range pieces {
		switch {
		// The speaker decides what a block may be: a tool call in a human entry is refused by providers.
		case piece.Block != nil:
			if err := block(c.Speaker, piece.Block, rawjson.Valid); err != nil {
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
	if c.Speaker != content.Human {
		found.less(index, c.Blocks, blocks, from)
	}
	// Speaker, metadata and unknown fields of the entry stay: an edit can change blocks only.
	out := c
	out.Blocks = blocks
	if c.Pinned() {
		found.add(&Error{Index: index, Err: ErrPinned})
	}
	switch {
	// The removal of a human entry in disguise. An entry that was blank before may stay blank.
	case c.Speaker == content.Human && c.HasContent() && !out.HasContent():
		found.add(wrong(index, ErrHumanLost, "it was replaced by nothing"))
	// Providers refuse a message without content.
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
