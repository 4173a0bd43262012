package history

import (
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk/content"
)

// What can be wrong with a plugin's answer. An [AnswerError] wraps one of these.
var (
	ErrConflict       = errors.New("an entry is both removed and replaced, or named twice") // REQ-HD-001.6, ERR-010, ERR-013
	ErrOutOfBounds    = errors.New("an index is out of bounds")                             // REQ-HD-001.7, ERR-011, ERR-012
	ErrOrphaned       = errors.New("a tool response lost its call")
	ErrUnanswered     = errors.New("a tool call lost its response")
	ErrHumanLost      = errors.New("a human entry vanished")
	ErrOpaqueChanged  = errors.New("a block of unknown kind was changed")
	ErrOutOfOrder     = errors.New("kept parts are out of order or kept twice")
	ErrInvalidEntry   = errors.New("a new entry is not valid")
	ErrEmptied        = errors.New("the whole history vanished")
	ErrPendingRemoved = errors.New("a tool call that still waits for its response was removed")
)

// AnswerError says that a plugin's answer cannot be applied. Nothing was changed.
type AnswerError struct {
	// Index is the entry of the history that the plugin was given, or of its answer if Answer; -1 if it is about the whole.
	Index  int
	Answer bool
	Detail string
	Err    error
}

func (e *AnswerError) Error() string {
	where := ""
	switch {
	case e.Index >= 0 && e.Answer:
		where = fmt.Sprintf("entry %d of the answer: ", e.Index)
	case e.Index >= 0:
		where = fmt.Sprintf("entry %d: ", e.Index)
	}
	if e.Detail == "" {
		return where + e.Err.Error()
	}
	return where + e.Err.Error() + " (" + e.Detail + ")"
}

func (e *AnswerError) Unwrap() error { return e.Err }

// Plan is a checked rewrite of a history, ready for [History.Apply].
type Plan struct {
	// Removals are the positions that go, ascending; Replacements the positions that change, with their new content
	// (REQ-HD-001.5). Both are filled for an Optimize only.
	Removals     []int
	Replacements map[int]content.Content
	// Before and After are the history's tokens without and with the plan.
	Before, After int

	base    Snapshot
	entries []*Entry // the new history; an entry without an id is new
}

// Empty reports whether the plan changes nothing.
func (p *Plan) Empty() bool { return len(p.Removals) == 0 && len(p.Replacements) == 0 }

// Contents returns the history as the plan makes it.
func (p *Plan) Contents() []content.Content { return Snapshot{Entries: p.entries}.Contents() }

// Counter counts entries in tokens, one count for each.
type Counter func([]content.Content) ([]int, error)

// PlanOptimize checks the edits of an Optimize against s and returns what they make of it (REQ-HD-003). Replacements come
// before removals, removals go from the highest index down; the result is the same, made in one pass.
//
// Refused, with an [AnswerError], is an index out of bounds or named twice, a block kept twice or out of order, a removed
// human entry, an unknown block that was changed, and a call or response that lost its other half.
func (s Snapshot) PlanOptimize(edits []wire.Edit, count Counter) (*Plan, error) {
	p := &Plan{base: s, Before: s.Tokens, After: s.Tokens, Replacements: map[int]content.Content{}}
	byIndex := make(map[int]int, len(edits))
	var changed []content.Content
	for i, e := range edits {
		if e.Index < 0 || e.Index >= len(s.Entries) {
			return nil, &AnswerError{Index: -1, Detail: fmt.Sprintf("index %d, the history has %d entries", e.Index, len(s.Entries)), Err: ErrOutOfBounds}
		}
		if _, twice := byIndex[e.Index]; twice {
			return nil, &AnswerError{Index: e.Index, Err: ErrConflict}
		}
		byIndex[e.Index] = i
		old := s.Entries[e.Index]
		if e.Remove {
			if old.Content.Speaker == content.Human {
				return nil, &AnswerError{Index: e.Index, Err: ErrHumanLost}
			}
			if hasOpaque(old.Content) {
				return nil, &AnswerError{Index: e.Index, Err: ErrOpaqueChanged}
			}
			p.Removals = append(p.Removals, e.Index)
			continue
		}
		c, err := edited(old.Content, e.Index, e.Blocks)
		if err != nil {
			return nil, err
		}
		p.Replacements[e.Index] = c
		changed = append(changed, c)
	}
	slices.Sort(p.Removals)
	counts, err := count(changed)
	if err != nil {
		return nil, fmt.Errorf("count replaced entries: %w", err) // REQ-HD-013.3
	}
	p.entries = make([]*Entry, 0, len(s.Entries)-len(p.Removals))
	next := 0 // of counts: replacements in the order of the edits
	order := make(map[int]int, len(changed))
	for _, e := range edits {
		if !e.Remove {
			order[e.Index] = next
			next++
		}
	}
	for i, old := range s.Entries {
		at, isEdited := byIndex[i]
		switch {
		case !isEdited:
			p.entries = append(p.entries, old)
		case edits[at].Remove:
			p.After -= old.Tokens
		default:
			n := counts[order[i]]
			p.After += n - old.Tokens
			p.entries = append(p.entries, &Entry{ID: old.ID, Tokens: n, Content: p.Replacements[i]})
		}
	}
	if p.Empty() {
		return p, nil
	}
	return p, checkPairs(s.Entries, p.entries)
}

// PlanCompress checks the pieces of a Compress against curated, the entries that the plugin was given (see [Curate]), and
// returns the new history. base is the snapshot that curated was made from.
//
// Refused, with an [AnswerError], is a range out of bounds, a part kept twice or out of order, an invalid new entry, an
// unknown block that was changed, an empty result, a tool response without its call, and the loss of a call that still
// waits for its response.
func (s Snapshot) PlanCompress(curated []*Entry, pieces []wire.Piece, count Counter) (*Plan, error) {
	p := &Plan{base: s, Before: s.Tokens}
	var made []*Entry // edited and new entries, to be counted in one go
	next := 0         // the first entry of curated that may still be kept
	for i, piece := range pieces {
		switch piece := piece.(type) {
		case wire.Added:
			if err := CheckContent(piece.Content); err != nil {
				return nil, &AnswerError{Index: len(p.entries), Answer: true, Detail: err.Error(), Err: ErrInvalidEntry}
			}
			e := &Entry{Content: piece.Content}
			p.entries, made = append(p.entries, e), append(made, e)
		case wire.Edited:
			if piece.Index < 0 || piece.Index >= len(curated) {
				return nil, &AnswerError{Index: -1, Detail: fmt.Sprintf("piece %d edits entry %d of %d", i, piece.Index, len(curated)), Err: ErrOutOfBounds}
			}
			if piece.Index < next {
				return nil, &AnswerError{Index: piece.Index, Err: ErrOutOfOrder}
			}
			old := curated[piece.Index]
			c, err := edited(old.Content, piece.Index, piece.Blocks)
			if err != nil {
				return nil, err
			}
			e := &Entry{ID: old.ID, Content: c}
			p.entries, made = append(p.entries, e), append(made, e)
			next = piece.Index + 1
		case wire.Keep:
			if piece.From < 0 || piece.To > len(curated) || piece.From >= piece.To {
				return nil, &AnswerError{Index: -1, Detail: fmt.Sprintf("piece %d keeps [%d, %d) of %d entries", i, piece.From, piece.To, len(curated)), Err: ErrOutOfBounds}
			}
			if piece.From < next {
				return nil, &AnswerError{Index: piece.From, Err: ErrOutOfOrder}
			}
			p.entries = append(p.entries, curated[piece.From:piece.To]...)
			next = piece.To
		}
	}
	if len(p.entries) == 0 && len(curated) > 0 {
		return nil, &AnswerError{Index: -1, Err: ErrEmptied}
	}
	contents := make([]content.Content, len(made))
	for i, e := range made {
		contents[i] = e.Content
	}
	counts, err := count(contents)
	if err != nil {
		return nil, fmt.Errorf("count new entries: %w", err)
	}
	for i, e := range made {
		e.Tokens = counts[i]
	}
	for _, e := range p.entries {
		p.After += e.Tokens
	}
	return p, checkPairs(curated, p.entries)
}

// edited returns c with the blocks that a plugin gave it. index is for errors.
func edited(c content.Content, index int, pieces []wire.BlockPiece) (content.Content, error) {
	fail := func(err error, format string, args ...any) (content.Content, error) {
		return content.Content{}, &AnswerError{Index: index, Detail: fmt.Sprintf(format, args...), Err: err}
	}
	blocks := make([]content.Block, 0, len(pieces))
	next := 0
	kept := make([]bool, len(c.Blocks))
	for i, piece := range pieces {
		if piece.Block != nil {
			if err := checkBlock(piece.Block); err != nil {
				return fail(ErrInvalidEntry, "block %d: %v", i, err)
			}
			blocks = append(blocks, piece.Block)
			continue
		}
		if piece.Keep < 0 || piece.Keep >= len(c.Blocks) {
			return fail(ErrOutOfBounds, "block %d of %d", piece.Keep, len(c.Blocks))
		}
		if piece.Keep < next {
			return fail(ErrOutOfOrder, "block %d", piece.Keep)
		}
		next = piece.Keep + 1
		kept[piece.Keep] = true
		blocks = append(blocks, c.Blocks[piece.Keep])
	}
	for i, b := range c.Blocks {
		if _, opaque := b.(content.Opaque); opaque && !kept[i] {
			return fail(ErrOpaqueChanged, "block %d", i)
		}
	}
	out := c
	out.Blocks = blocks
	switch {
	case c.Speaker == content.Human && c.HasContent() && !out.HasContent():
		return fail(ErrHumanLost, "it was replaced by nothing")
	case len(blocks) == 0 && len(c.Blocks) > 0:
		return fail(ErrInvalidEntry, "no blocks are left: remove it instead")
	}
	return out, nil
}

func hasOpaque(c content.Content) bool {
	return slices.ContainsFunc(c.Blocks, func(b content.Block) bool { _, opaque := b.(content.Opaque); return opaque })
}

// checkLate makes sure that tool responses which arrived while the plugin worked still have their calls.
func (p *Plan) checkLate(late []*Entry) error {
	if len(late) == 0 {
		return nil
	}
	before := append(slices.Clone(p.base.Entries), late...)
	after := append(slices.Clone(p.entries), late...)
	if err := checkPairs(before, after); err != nil {
		return fmt.Errorf("entries were added meanwhile: %w", err)
	}
	return nil
}
