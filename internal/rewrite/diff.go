package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// ErrBadResult is wrapped by errors about a result that a strategy must not return. They are written for its author.
var ErrBadResult = errors.New("the strategy returned a bad result")

// Edits turns the result of an Optimize into edits, ascending by entry, that name the blocks they keep. A replacement
// that changes nothing makes no edit, and ill-formed reasons or those without an edit are dropped.
func Edits(
	history []content.Content, removals []int, replacements map[int]content.Content, reasons map[int]sdk.Reason,
) ([]Edit, error) {
	// The author promises the order; sorting would hide a mistake in how the list was made.
	for i, index := range removals {
		if err := inHistory("Removals", index, len(history)); err != nil {
			return nil, err
		}
		if i > 0 && index <= removals[i-1] {
			return nil, fmt.Errorf("%w: Removals must ascend without repeats, but %d follows %d", ErrBadResult, index,
				removals[i-1])
		}
	}
	replaced := make([]int, 0, len(replacements))
	for index := range replacements {
		replaced = append(replaced, index)
	}
	slices.Sort(replaced)
	edits := make([]Edit, 0, len(removals)+len(replaced))
	for len(removals) > 0 || len(replaced) > 0 { // merged by index: the time depends on the edits, not on the history
		if len(replaced) == 0 || len(removals) > 0 && removals[0] < replaced[0] {
			index := removals[0]
			removals = removals[1:]
			edits = append(edits, Edit{Index: index, Remove: true, Reason: reasons[index].Clean(len(history))})
			continue
		}
		index := replaced[0]
		replaced = replaced[1:]
		if err := inHistory("Replacements", index, len(history)); err != nil {
			return nil, err
		}
		if len(removals) > 0 && removals[0] == index {
			return nil, fmt.Errorf("%w: entry %d stands in Removals and in Replacements; it can only be in one of them",
				ErrBadResult, index)
		}
		original, replacement := history[index], replacements[index]
		// An entry returned as it was is no mistake, and costs nothing on the wire.
		if replacement.Equal(original) {
			continue
		}
		// Pruning changes what an entry holds, never its speaker or metadata.
		if what := changedField(original, replacement); what != "" {
			return nil, fmt.Errorf("%w: Optimize replaced entry %d and changed its %s; only blocks may change",
				ErrBadResult,
				index, what)
		}
		edits = append(edits, Edit{
			Index: index, Blocks: BlockPieces(original.Blocks, replacement.Blocks),
			Reason: reasons[index].Clean(len(history)),
		})
	}
	return edits, nil
}

func inHistory(where string, index, length int) error {
	if index >= 0 && index < length {
		return nil
	}
	return fmt.Errorf("%w: %s names entry %d, but the history has %d entries, counted from 0", ErrBadResult, where,
		index,
		length)
}

// OnlyBlocksDiffer reports whether two entries are the same except for their blocks.
func OnlyBlocksDiffer(a, b content.Content) bool { return changedField(a, b) == "" }

func changedField(a, b content.Content) string {
	switch {
	case a.Speaker != b.Speaker:
		return fmt.Sprintf("speaker from %q to %q", a.Speaker, b.Speaker)
	case !bytes.Equal(a.Metadata, b.Metadata):
		return "metadata"
	case !a.Extra.Equal(b.Extra):
		return "extra fields"
	}
	return ""
}

// Pieces turns a compressed history into pieces. An unchanged entry that says where it stood ([content.Content.Origin])
// is kept, one with other blocks is edited, and every other one is new, including one that repeats or precedes what was
// already kept. Adjacent kept entries become one piece, so keeping a long history costs one range.
func Pieces(history, result []content.Content) []Piece {
	var pieces []Piece
	var run Keep // kept entries that are not in pieces yet
	flush := func() {
		if run.From < run.To {
			pieces = append(pieces, run)
		}
		run = Keep{}
	}
	next := 0 // the first entry that may still be kept
	for _, c := range result {
		origin, ok := c.Origin()
		switch {
		// An origin is what the strategy claims. A wrong one makes the entry new, and loses only its id.
		case !ok || origin < next || origin >= len(history) || changedField(history[origin], c) != "":
			flush()
			pieces = append(pieces, Added{Content: c})
			continue
		case !c.Equal(history[origin]):
			flush()
			pieces = append(pieces, Edited{Index: origin, Blocks: BlockPieces(history[origin].Blocks, c.Blocks)})
		case run.To == origin && run.From < run.To:
			run.To++
		default:
			flush()
			run = Keep{From: origin, To: origin + 1}
		}
		next = origin + 1
	}
	flush()
	return pieces
}
