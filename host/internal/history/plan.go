package history

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// AnswerError is one problem with a strategy's answer. The history is unchanged.
type AnswerError = check.Error

var (
	ErrConflict       = check.ErrConflict
	ErrOutOfBounds    = check.ErrOutOfBounds
	ErrOutOfOrder     = check.ErrOutOfOrder
	ErrOrphaned       = check.ErrOrphaned
	ErrUnanswered     = check.ErrUnanswered
	ErrMismatched     = check.ErrMismatched
	ErrPendingRemoved = check.ErrPendingRemoved
	ErrTwice          = check.ErrTwice
	ErrHumanLost      = check.ErrHumanLost
	ErrHumanChanged   = check.ErrHumanChanged
	ErrHumanMade      = check.ErrHumanMade
	ErrCallChanged    = check.ErrCallChanged
	ErrResultChanged  = check.ErrResultChanged
	ErrOutcomeChanged = check.ErrOutcomeChanged
	ErrWordsAdded     = check.ErrWordsAdded
	ErrSigned         = check.ErrSigned
	ErrPinned         = check.ErrPinned
	ErrOpaqueChanged  = check.ErrOpaqueChanged
	ErrInvalidEntry   = check.ErrInvalidEntry
	ErrEmptied        = check.ErrEmptied
)

// Plan is a checked rewrite of one snapshot. [History.Apply] refuses it if the history was rewritten since; entries
// that were only added are carried over.
type Plan struct {
	// Removals are the positions that an Optimize removes, ascending. Replacements are the positions that it changes,
	// with their new content. Both are empty for a Compress.
	Removals     []int
	Replacements map[int]content.Content
	// Reasons are why an Optimize edits a position, as the strategy says.
	Reasons map[int]sdk.Reason
	// After is the exact size of the rewritten history, in tokens.
	After int

	base    Snapshot
	old     []*Entry          // what the strategy was given: all of base, or base without blank entries
	given   []content.Content // the contents of old, to check entries that are added later
	parts   []check.Part      // the answer; nil for an empty plan
	entries []*Entry          // the rewritten history; new entries have no ID yet

	// changes are an Optimize's, in order, and changed the entries that it replaces; nil if removed. The fields from
	// old on follow from them and are made only if needed: see expand.
	changes []check.Change
	changed []*Entry
	marks   int // how many of the removals leave one
}

// Empty reports whether the plan of an Optimize changes nothing.
func (p *Plan) Empty() bool { return len(p.Removals) == 0 && len(p.Replacements) == 0 }

func (p *Plan) Contents() []content.Content {
	p.expand()
	return contents(p.entries)
}

func (p *Plan) Len() int {
	if p.changes != nil {
		return len(p.base.Entries) - len(p.Removals) + p.marks
	}
	return len(p.entries)
}

// Base returns how many entries and tokens the history had when the plan was made.
func (p *Plan) Base() (entries, tokens int) { return len(p.base.Entries), p.base.Tokens }

// PlanOptimize checks the edits of an Optimize against s and returns the rewrite. The edits must leave a valid history:
// no position twice, no call without its responses. The error joins one [AnswerError] per problem, or is
// count's.
func (s Snapshot) PlanOptimize(ctx context.Context, edits []rewrite.Edit, count Counter) (*Plan, error) {
	none := &Plan{base: s, After: s.Tokens, Replacements: map[int]content.Content{}, entries: s.Entries}
	if len(edits) == 0 {
		return none, nil
	}
	index := s.index
	if index == nil { // a snapshot of no History
		index = &check.Index{}
	}
	at := func(i int) content.Content { return s.Entries[i].Content }
	changes, err := index.Optimize(len(s.Entries), at, edits)
	if err != nil {
		return nil, err
	}
	if changes, err = s.markRemoved(ctx, changes, count); err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		return none, nil
	}
	changes = s.resolve(changes)
	var fresh []content.Content // what must be counted, in the order of the changes
	for _, c := range changes {
		if unknown := newBlocks(c.Part); unknown != nil {
			fresh = append(fresh, content.Content{Speaker: c.Content.Speaker, Blocks: unknown})
		}
	}
	counts, err := count(ctx, fresh)
	if err != nil {
		return nil, fmt.Errorf("count changed entries: %w", err)
	}
	p := &Plan{
		base: s, After: s.Tokens, Replacements: map[int]content.Content{}, Reasons: reasons(edits, len(s.Entries)),
		changes: changes, changed: make([]*Entry, len(changes)),
	}
	for i, c := range changes {
		old := s.Entries[c.Index]
		p.After -= old.Tokens
		if c.Removed {
			p.Removals = append(p.Removals, c.Index)
			continue
		}
		var unknown Count
		if newBlocks(c.Part) != nil {
			unknown, counts = counts[0], counts[1:]
		}
		e := &Entry{ID: old.ID, Content: c.Content, Count: recount(old.Count, c.Kept, unknown.Blocks),
			Refers: refers(c.Content), Was: was(old, c.Part)}
		p.changed[i] = e
		p.After += e.Tokens
		if s.marks(c) {
			of, _ := check.GapOf(c.Content)
			e.ID, e.Was = "", answers(of, old)
			p.Removals, p.marks = append(p.Removals, c.Index), p.marks+1
			continue
		}
		p.Replacements[c.Index] = c.Content
	}
	return p, nil
}

// PlanKept returns the rewrite that makes entries say by which rule the host keeps them, by position; "" for entries
// that are kept no more.
func (s Snapshot) PlanKept(rules map[int]string) *Plan {
	p := &Plan{base: s, After: s.Tokens, Replacements: map[int]content.Content{}}
	for _, i := range slices.Sorted(maps.Keys(rules)) {
		e := *s.Entries[i]
		e.Content = check.MarkKept(e.Content, rules[i])
		p.Replacements[i] = e.Content
		p.changes, p.changed = append(p.changes, check.Change{Part: check.AllKept(i, e.Content)}), append(p.changed, &e)
	}
	return p
}

// expand makes the whole rewritten history of an Optimize's plan. A turn needs it only if entries were added while the
// strategy worked, and costs what the edits are otherwise. It is idempotent, and not safe for concurrent use.
func (p *Plan) expand() {
	if p.changes == nil || p.parts != nil {
		return
	}
	p.old, p.given = p.base.Entries, p.base.Contents()
	p.parts = check.Expand(p.given, p.changes)
	p.entries = make([]*Entry, 0, len(p.parts))
	next := 0 // the first entry of base that is not accounted for
	for i, c := range p.changes {
		p.entries = append(p.entries, p.old[next:c.Index]...)
		if !c.Removed {
			p.entries = append(p.entries, p.changed[i])
		}
		next = c.Index + 1
	}
	p.entries = append(p.entries, p.old[next:]...)
}

// PlanCompress checks the pieces of a Compress against curated, the entries that the strategy was given (see [Curate]),
// and returns the rewrite. s is the snapshot of curated; any Compress removes blank entries that are not in it. A new
// entry gets metadata that names strategy as its maker; with "" the host rewrites to make room, and adds none. Marks
// that refer to removed lines get the lines back; if the host makes room, they say that the lines are gone. Where what
// was said goes and the answer has nothing in its place, a mark says so. Errors are as for [Snapshot.PlanOptimize].
func (s Snapshot) PlanCompress(
	ctx context.Context, curated []*Entry, strategy string, pieces []rewrite.Piece, count Counter,
) (*Plan, error) {
	given, judge := contents(curated), check.Compress
	if strategy == "" {
		judge = check.MakeRoom
	}
	parts, err := judge(given, pieces)
	if err != nil {
		return nil, err
	}
	for i := range parts {
		if p := &parts[i]; p.Index < 0 {
			p.Content = check.MarkMade(p.Content, strategy)
		}
	}
	if s.refers > 0 {
		resolve(curated, parts, s.Tools, strategy != "")
	}
	resolveInclusions(curated, parts)
	if parts, err = markGaps(ctx, curated, parts, count); err != nil {
		return nil, err
	}
	return s.plan(ctx, curated, given, parts, count)
}

func (s Snapshot) plan(
	ctx context.Context, old []*Entry, given []content.Content, parts []check.Part, count Counter,
) (*Plan, error) {
	p := &Plan{base: s, old: old, given: given, parts: parts, entries: make([]*Entry, len(parts))}
	var fresh []content.Content // what must be counted, in the order of the parts
	line := false               // the gap has a line for calls
	for i, part := range parts {
		line = line && part.Index < 0
		switch {
		case part.Index < 0:
			p.entries[i] = &Entry{Content: part.Content}
			if of, mark := check.GapOf(part.Content); mark {
				p.entries[i].Was = answers(of, between(old, parts, i)...)
			} else if check.Folds(part.Content) && len(part.Content.Blocks) > 0 && !line {
				line, p.entries[i].Stands = true, stands(between(old, parts, i))
			}
			fresh = append(fresh, part.Content)
		case part.Edited:
			p.entries[i] = &Entry{ID: old[part.Index].ID, Content: part.Content, Refers: refers(part.Content),
				Was: was(old[part.Index], part)}
			if unknown := newBlocks(part); unknown != nil {
				fresh = append(fresh, content.Content{Speaker: part.Content.Speaker, Blocks: unknown})
			}
		default:
			p.entries[i] = old[part.Index]
		}
	}
	// One call for everything: a counter can then work on all processors.
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

// reasons collects what the strategy says about its edits. Ill-formed reasons are dropped instead of refused: they are
// for people, and the edits are valid.
func reasons(edits []rewrite.Edit, length int) map[int]sdk.Reason {
	out := map[int]sdk.Reason{}
	for _, e := range edits {
		if r := e.Reason.Clean(length); r != (sdk.Reason{}) {
			out[e.Index] = r
		}
	}
	return out
}

func newBlocks(part check.Part) (blocks []content.Block) {
	for i, from := range part.Kept {
		if from < 0 {
			blocks = append(blocks, part.Content.Blocks[i])
		}
	}
	return blocks
}

// checkLate checks that entries appended while the strategy worked still fit: no response loses its call.
func (p *Plan) checkLate(late []*Entry) error {
	if len(late) == 0 {
		return nil
	}
	p.expand()
	if err := check.Late(p.given, p.parts, contents(late)); err != nil {
		return fmt.Errorf("entries were added meanwhile: %w", err)
	}
	return nil
}
