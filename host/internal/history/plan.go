package history

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// AnswerError says what is wrong with a plugin's answer. Nothing was changed.
type AnswerError = check.Error

// What can be wrong with a plugin's answer; an [AnswerError] wraps one of these.
var (
	ErrConflict       = check.ErrConflict
	ErrOutOfBounds    = check.ErrOutOfBounds
	ErrOutOfOrder     = check.ErrOutOfOrder
	ErrOrphaned       = check.ErrOrphaned
	ErrUnanswered     = check.ErrUnanswered
	ErrMismatched     = check.ErrMismatched
	ErrPendingRemoved = check.ErrPendingRemoved
	ErrHumanLost      = check.ErrHumanLost
	ErrOpaqueChanged  = check.ErrOpaqueChanged
	ErrInvalidEntry   = check.ErrInvalidEntry
	ErrEmptied        = check.ErrEmptied
)

// Plan is a checked rewrite of a history, ready for [History.Apply].
type Plan struct {
	// Removals are the positions that go, ascending; Replacements the positions that change, with their new content
	// (REQ-HD-001.5). Both are filled for an Optimize only.
	Removals     []int
	Replacements map[int]content.Content
	// After is what the history counts with the plan, in tokens.
	After int

	base    Snapshot
	old     []*Entry                // what the plugin was given: the base, or the base without what says nothing
	reasons map[int]contract.Reason // what the strategy says of the edited positions of an Optimize
	given   []content.Content       // the contents of old, for entries that were added since
	parts   []check.Part
	entries []*Entry // the new history; an entry without an id is new
}

// Empty reports whether the plan of an Optimize changes nothing.
func (p *Plan) Empty() bool { return len(p.Removals) == 0 && len(p.Replacements) == 0 }

// Contents returns the history as the plan makes it.
func (p *Plan) Contents() []content.Content { return contents(p.entries) }

// Len returns how many entries the history has with the plan.
func (p *Plan) Len() int { return len(p.entries) }

// PlanOptimize checks the edits of an Optimize against s and returns what they make of it (REQ-HD-003). An error joins one
// [AnswerError] for each thing that is wrong, or comes from count (REQ-HD-013.3).
func (s Snapshot) PlanOptimize(ctx context.Context, edits []rewrite.Edit, count Counter) (*Plan, error) {
	if len(edits) == 0 {
		return &Plan{base: s, After: s.Tokens, Replacements: map[int]content.Content{}, entries: s.Entries}, nil
	}
	given := s.Contents()
	parts, err := check.Optimize(given, edits)
	if err != nil {
		return nil, err
	}
	p, err := s.plan(ctx, s.Entries, given, parts, count)
	if err != nil {
		return nil, err
	}
	p.Replacements = map[int]content.Content{}
	p.reasons = reasons(edits, len(given))
	next := 0
	for _, part := range parts {
		for ; next < part.Index; next++ {
			p.Removals = append(p.Removals, next)
		}
		next++
		if part.Edited {
			p.Replacements[part.Index] = part.Content
		}
	}
	for ; next < len(given); next++ {
		p.Removals = append(p.Removals, next)
	}
	return p, nil
}

// PlanCompress checks the pieces of a Compress against curated, the entries that the plugin was given (see [Curate]), and
// returns the new history. s is the snapshot that curated was made from. Errors are as for [Snapshot.PlanOptimize].
func (s Snapshot) PlanCompress(
	ctx context.Context, curated []*Entry, pieces []rewrite.Piece, count Counter,
) (*Plan, error) {
	given := contents(curated)
	parts, err := check.Compress(given, pieces)
	if err != nil {
		return nil, err
	}
	return s.plan(ctx, curated, given, parts, count)
}

// plan makes records of the parts: those that were kept as they are, the others counted, by what is new in them.
func (s Snapshot) plan(
	ctx context.Context, old []*Entry, given []content.Content, parts []check.Part, count Counter,
) (*Plan, error) {
	p := &Plan{base: s, old: old, given: given, parts: parts, entries: make([]*Entry, len(parts))}
	var fresh []content.Content // what has to be counted
	for i, part := range parts {
		switch {
		case part.Index < 0:
			p.entries[i] = &Entry{Content: part.Content}
			fresh = append(fresh, part.Content)
		case part.Edited:
			p.entries[i] = &Entry{ID: old[part.Index].ID, Content: part.Content}
			if unknown := newBlocks(part); unknown != nil {
				fresh = append(fresh, content.Content{Speaker: part.Content.Speaker, Blocks: unknown})
			}
		default:
			p.entries[i] = old[part.Index]
		}
	}
	counts, err := count(ctx, fresh)
	if err != nil {
		return nil, fmt.Errorf("count changed entries: %w", err)
	}
	for i, part := range parts {
		switch {
		case part.Index < 0:
			p.entries[i].Count, counts = counts[0], counts[1:]
		case part.Edited:
			var unknown Count
			if newBlocks(part) != nil {
				unknown, counts = counts[0], counts[1:]
			}
			p.entries[i].Count = recount(old[part.Index].Count, part.Kept, unknown.Blocks)
		}
		p.After += p.entries[i].Tokens
	}
	return p, nil
}

// reasons are what the strategy says about the edits of a history of the given length, without what is ill-formed: an answer
// that is right otherwise is not refused for it.
func reasons(edits []rewrite.Edit, length int) map[int]contract.Reason {
	out := map[int]contract.Reason{}
	for _, e := range edits {
		if r := e.Reason.Clean(length); r != (contract.Reason{}) {
			out[e.Index] = r
		}
	}
	return out
}

// newBlocks are the blocks of an edited entry that it did not have.
func newBlocks(part check.Part) (blocks []content.Block) {
	for i, from := range part.Kept {
		if from < 0 {
			blocks = append(blocks, part.Content.Blocks[i])
		}
	}
	return blocks
}

// recount is the count of an edited entry: what its kept blocks counted before, and the new blocks in order.
func recount(old Count, kept []int, fresh []int32) Count {
	out := Count{Tokens: old.Tokens, Blocks: make([]int32, len(kept))}
	for _, n := range old.Blocks {
		out.Tokens -= int(n) // what is left is what stands around the blocks
	}
	for i, from := range kept {
		if from >= 0 {
			out.Blocks[i] = old.Blocks[from]
		} else {
			out.Blocks[i], fresh = fresh[0], fresh[1:]
		}
		out.Tokens += int(out.Blocks[i])
	}
	return out
}

// checkLate makes sure that what was added while the plugin worked still fits.
func (p *Plan) checkLate(late []*Entry) error {
	if err := check.Late(p.given, p.parts, contents(late)); err != nil {
		return fmt.Errorf("entries were added meanwhile: %w", err)
	}
	return nil
}
