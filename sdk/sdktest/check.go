package sdktest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk"
)

// RefusedError says why the SDK or the host would refuse an answer.
type RefusedError struct {
	// Op is "Optimize" or "Compress".
	Op string
	// Problems are sentences, at least one.
	Problems []string
}

// Error joins the problems.
func (e *RefusedError) Error() string {
	return "the host would refuse this " + e.Op + ": " + strings.Join(e.Problems, "; ")
}

type problems []string

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

func (p problems) err(op string) error {
	if len(p) == 0 {
		return nil
	}
	return &RefusedError{Op: op, Problems: p}
}

// CheckDensity returns a [RefusedError] if the result of an Optimize of history would be refused: positions out of bounds,
// twice, or in both sets (REQ-HD-001.6, .7), an entry changed beyond its blocks, a human entry removed, a block of unknown
// kind changed, a call or a response that lost its other half.
func CheckDensity(history []sdk.Content, r sdk.DensityResult) error {
	edits, err := wire.Edits(history, r.Removals, r.Replacements)
	if err != nil {
		return &RefusedError{Op: "Optimize", Problems: []string{err.Error()}}
	}
	var found problems
	for _, edit := range edits {
		switch was := history[edit.Index]; {
		case !edit.Remove:
			checkEdited(&found, edit.Index, was, r.Replacements[edit.Index], edit.Blocks)
		case was.Speaker == sdk.Human:
			found.add("Removals has entry %d, which is what a person said; replace it if a part of it can go", edit.Index)
		case slices.ContainsFunc(was.Blocks, isOpaque):
			found.add("Removals has entry %d, which has a block of a kind that nobody here knows; such blocks must stay", edit.Index)
		}
	}
	checkPairs(&found, withOrigins(history), Apply(history, r))
	return found.err("Optimize")
}

// CheckCompressed returns a [RefusedError] if the result of a Compress of history would be refused: an empty history, an
// entry that is not valid, a block of unknown kind changed, a call or a response that lost its other half. The entries of
// the result must come from the history that the strategy was given: that is how kept ones are told from new ones.
func CheckCompressed(history []sdk.Content, r sdk.CompressResult) error {
	return checkCompressed(history, r).err("Compress")
}

func checkCompressed(history []sdk.Content, r sdk.CompressResult) problems {
	var found problems
	if r.NoOp != "" {
		if len(r.History) > 0 {
			found.add("the result is a no-op (%s) and has a history; it can only be one of them", r.NoOp)
		}
		return found
	}
	if len(r.History) == 0 {
		found.add("the new history is empty; return sdk.NoOp with a reason if there is nothing to do")
		return found
	}
	at := 0 // of the piece in r.History
	for _, piece := range wire.Pieces(history, r.History) {
		switch piece := piece.(type) {
		case wire.Keep:
			at += piece.To - piece.From
			continue
		case wire.Edited:
			checkEdited(&found, piece.Index, history[piece.Index], r.History[at], piece.Blocks)
		case wire.Added:
			checkNew(&found, at, piece.Content)
		}
		at++
	}
	checkPairs(&found, withOrigins(history), r.History)
	return found
}

func isOpaque(b sdk.Block) bool { _, ok := b.(sdk.Opaque); return ok }

// checkEdited complains about an entry of the input that was given other blocks. pieces say which blocks it kept.
func checkEdited(found *problems, index int, was, is sdk.Content, pieces []wire.BlockPiece) {
	what := fmt.Sprintf("entry %d, as it was edited,", index)
	switch {
	case len(is.Blocks) == 0:
		found.add("%s has no blocks left; remove it instead", what)
	case was.Speaker == sdk.Human && was.HasContent() && !is.HasContent():
		found.add("%s says nothing any more, but a person said something", what)
	}
	kept := make([]bool, len(was.Blocks))
	for j, piece := range pieces {
		if piece.Block == nil {
			kept[piece.Keep] = true
		} else {
			checkBlock(found, fmt.Sprintf("%s block %d", what, j), is.Speaker, piece.Block)
		}
	}
	for j, b := range was.Blocks {
		if isOpaque(b) && !kept[j] {
			found.add("%s lacks block %d, of a kind that nobody here knows; such blocks must stay", what, j)
		}
	}
}

// checkNew complains about an entry that stands at a position of the new history and is none of the input.
func checkNew(found *problems, at int, e sdk.Content) {
	what := fmt.Sprintf("the new entry at %d", at)
	if !e.Speaker.Known() {
		found.add("%s is from %q; it must be from human, ai or tool", what, e.Speaker)
	}
	if len(e.Blocks) == 0 {
		found.add("%s has no blocks", what)
	}
	for j, b := range e.Blocks {
		checkBlock(found, fmt.Sprintf("%s, block %d,", what, j), e.Speaker, b)
	}
}

func checkBlock(found *problems, what string, speaker sdk.Speaker, b sdk.Block) {
	switch b := b.(type) {
	case nil:
		found.add("%s is nil", what)
	case sdk.Opaque:
		if b.Kind() == "" {
			found.add("%s is nil or has no type", what)
		}
	case sdk.ToolCall:
		if len(b.Parameters) > 0 && !json.Valid(b.Parameters) {
			found.add("%s has parameters that are not JSON (see content.String for a text)", what)
		}
		if b.ID == "" || b.Name == "" {
			found.add("%s is a call without id or name", what)
		}
		if speaker != sdk.AI {
			found.add("%s is a call, which only the ai makes, but its entry is from %q", what, speaker)
		}
	case sdk.ToolResponse:
		if len(b.Result) > 0 && !json.Valid(b.Result) {
			found.add("%s has a result that is not JSON; use WithResultText for a text", what)
		}
		if b.CallID == "" {
			found.add("%s is a response without the id of its call", what)
		}
		if speaker != sdk.Tool {
			found.add("%s is a response, which only a tool gives, but its entry is from %q", what, speaker)
		}
	}
}
