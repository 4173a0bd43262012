package history

import (
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/sdk"
)

// ErrReplay is wrapped by the errors of [History.Replay] and [Restore]: the data does not fit this history.
var ErrReplay = errors.New("the record does not fit the history before it")

// Rewrite is what a [Plan] makes of a history, as data. [History.Replay] gives the same history as [History.Apply] did.
type Rewrite struct {
	// Base is the moment up to which the plan had seen the history. Positions refer to the history up to it.
	Base   Point
	Pieces []Piece
	// Reasons say why an entry was removed or edited, by position. They are for people.
	Reasons map[int]sdk.Reason
}

// Piece is a run of kept entries, or one entry that is edited or new.
type Piece struct {
	// From and To are the positions [From, To) of the kept entries; an edited one is at From. Both are -1 for a new
	// entry.
	From, To int
	// Entry is the whole edited or new entry; nil for kept entries.
	Entry *Entry
}

// name gives the plan's new entries the ids after next, and returns the last number used. Until the plan is applied
// only the plan refers to these entries, so they may be named again.
func (p *Plan) name(next uint64) uint64 {
	for i, c := range p.changes {
		if e := p.changed[i]; e != nil && p.base.marks(c) {
			next++
			e.ID = id(next)
		}
	}
	if p.changes != nil {
		return next
	}
	for i, part := range p.parts {
		if part.Index < 0 {
			next++
			p.entries[i].ID = id(next)
		}
	}
	return next
}

func (p *Plan) rewrite() Rewrite {
	r := Rewrite{Base: p.base.at, Reasons: p.Reasons}
	base := p.base.Entries
	// Adjacent runs become one piece, which keeps the record short.
	keep := func(from, to int) {
		last := len(r.Pieces) - 1
		switch {
		case from >= to:
		case last >= 0 && r.Pieces[last].Entry == nil && r.Pieces[last].To == from:
			r.Pieces[last].To = to
		default:
			r.Pieces = append(r.Pieces, Piece{From: from, To: to})
		}
	}
	next := 0 // the first entry of base that is not accounted for
	// An Optimize knows its changes; all else of base is kept.
	if p.changes != nil {
		for i, c := range p.changes {
			keep(next, c.Index)
			switch e := p.changed[i]; {
			case e != nil && p.base.marks(c):
				r.Pieces = append(r.Pieces, Piece{From: -1, To: -1, Entry: e})
			case e != nil:
				r.Pieces = append(r.Pieces, Piece{From: c.Index, To: c.Index + 1, Entry: e})
			}
			next = c.Index + 1
		}
		keep(next, len(base))
		return r
	}
	if p.parts == nil { // an Optimize without edits
		keep(0, len(p.entries))
	}
	for i, part := range p.parts {
		if part.Index < 0 {
			r.Pieces = append(r.Pieces, Piece{From: -1, To: -1, Entry: p.entries[i]})
			continue
		}
		for base[next] != p.old[part.Index] { // blank entries, which the strategy was not given
			next++
		}
		if p.entries[i] == base[next] {
			keep(next, next+1)
		} else {
			r.Pieces = append(r.Pieces, Piece{From: next, To: next + 1, Entry: p.entries[i]})
		}
		next++
	}
	return r
}

// Replay carries out a recorded rewrite without judging it again. If the rewrite is of another history, it changes
// nothing and returns an error that wraps [ErrReplay].
func (h *History) Replay(r Rewrite) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Base.added > h.added || r.Base.appends > h.appends {
		return fmt.Errorf("%w: a rewrite of %d entries, and only %d were added", ErrReplay, r.Base.added, h.added)
	}
	base := h.snapshotAt(&r.Base)
	var out []*Entry
	next := 0
	for _, p := range r.Pieces {
		if p.From < 0 {
			out = append(out, p.Entry)
			continue
		}
		if p.From < next || p.To <= p.From || p.To > len(base.Entries) || p.Entry != nil && p.To != p.From+1 {
			return fmt.Errorf("%w: a rewrite keeps entries %d to %d of %d", ErrReplay, p.From, p.To, len(base.Entries))
		}
		next = p.To
		if p.Entry != nil {
			p.Entry.Refers = refers(p.Entry.Content)
			out = append(out, p.Entry)
			continue
		}
		out = append(out, base.Entries[p.From:p.To]...)
	}
	// Only now: an error changes nothing.
	for _, p := range r.Pieces {
		if p.Entry != nil {
			h.used(p.Entry.ID)
		}
	}
	h.replace(base, out)
	h.rewritten(base)
	return nil
}

// State is a history without its entries, as a snapshot in a log holds it next to the list of entries.
type State struct {
	Revision, Epoch uint64
	// Now is the point after everything that was added, Rewrote what the last rewrite had seen.
	Now, Rewrote Point
	// LastID is the number of the last id given to an entry.
	LastID uint64
}

// State returns the history's state, and its entries. The list must not be changed.
func (h *History) State() (State, []*Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return State{Revision: h.revision, Epoch: h.epoch, Now: Point{h.added, h.appends}, Rewrote: h.rewrote,
		LastID: h.nextID}, h.entries[:len(h.entries):len(h.entries)]
}

// Restore replaces what the history holds; earlier plans and views are void. If state and entries cannot be of one
// history, it changes nothing and the error wraps [ErrReplay].
func (h *History) Restore(s State, entries []*Entry) error {
	// What was added behind the last rewrite is at the end, one entry each.
	late := s.Now.added - s.Rewrote.added
	if uint64(len(entries)) > s.LastID || s.Rewrote.added > s.Now.added || s.Rewrote.appends > s.Now.appends ||
		late > uint64(len(entries)) {
		return fmt.Errorf("%w: a history of %d entries with %d ids", ErrReplay, len(entries), s.LastID)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entries, h.sums = slices.Clip(entries), nil
	for _, e := range entries {
		e.Refers = refers(e.Content)
		h.sums = h.sums.add(e.Tokens)
	}
	h.refers, h.bytes = countAll(entries)
	h.revision, h.epoch, h.nextID = s.Revision, s.Epoch, s.LastID
	h.added, h.appends, h.rewrote = s.Now.added, s.Now.appends, s.Rewrote
	h.index, h.shown = nil, shown{}
	return nil
}
