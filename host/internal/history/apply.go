package history

import (
	"fmt"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Ready checks that a plan can be applied now and returns it as data, with the ids that its new entries will have. It
// changes nothing. It is for a caller that records a rewrite before applying it; nothing may be added or applied in
// between. The errors are those of [History.Apply].
func (h *History) Ready(p *Plan) (Rewrite, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.applicable(p); err != nil {
		return Rewrite{}, err
	}
	p.name(h.nextID)
	return p.rewrite(), nil
}

// Apply carries out a plan that was made for an earlier snapshot of this epoch, and returns the history after it.
// Entries appended since the snapshot follow the new ones.
//
// It changes nothing and returns an error if the history was rewritten since ([ErrStale]), or if an appended entry
// needs a tool call that the plan removed (an [AnswerError]).
func (h *History) Apply(p *Plan) (Snapshot, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.applicable(p); err != nil {
		return h.snapshotAt(nil), err
	}
	h.nextID = p.name(h.nextID)
	if p.changes != nil {
		h.edit(p)
	} else {
		h.replace(p.base, p.entries)
	}
	h.rewritten(p.base)
	return h.snapshotAt(nil), nil
}

// applicable returns an error if a plan does not fit the history as it is now. Callers hold h.mu.
func (h *History) applicable(p *Plan) error {
	if p.base.Epoch != h.epoch {
		return fmt.Errorf("%w (planned at revision %d, now at %d)", ErrStale, p.base.Revision, h.revision)
	}
	return p.checkLate(h.entries[len(p.base.Entries):])
}

// rewritten counts a rewrite that had seen the history up to base. Callers hold h.mu.
func (h *History) rewritten(base Snapshot) {
	h.revision++
	h.epoch++
	h.rewrote = base.at
}

// room returns the capacity for a list of n entries that is going to grow: the first addition after a rewrite does not
// copy it again.
func room(n int) int { return n + n/8 + 16 }

// edit applies an Optimize. The lists are copied, because snapshots share them, but kept entries are not looked at:
// that would cost a cache miss for each.
func (h *History) edit(p *Plan) {
	old, oldSums := h.entries, h.sums
	left := room(len(old) - len(p.Removals))
	h.entries, h.sums = make([]*Entry, 0, left), make(sums, 0, left)
	next := 0 // the first entry that is not accounted for
	keep := func(to int) {
		h.entries = append(h.entries, old[next:to]...)
		h.sums = h.sums.addRange(oldSums, next, to)
	}
	for i, c := range p.changes {
		keep(c.Index)
		h.bytes -= old[c.Index].bytes()
		if old[c.Index].Refers {
			h.refers--
		}
		if e := p.changed[i]; e != nil {
			h.bytes += e.bytes()
			if e.Refers {
				h.refers++
			}
			h.entries, h.sums = append(h.entries, e), h.sums.add(e.Tokens)
		}
		next = c.Index + 1
	}
	keep(len(old))
	h.shown.edited(p.changes)
	h.index = h.index.Applied(func(i int) content.Content { return old[i].Content }, p.changes)
}

func (h *History) replace(base Snapshot, made []*Entry) {
	late := h.entries[len(base.Entries):]
	entries := make([]*Entry, 0, room(len(made)+len(late)))
	total := make(sums, 0, cap(entries))
	for _, e := range made {
		entries, total = append(entries, e), total.add(e.Tokens)
	}
	first := 0
	for first < min(len(entries), len(base.Entries)) && entries[first] == base.Entries[first] {
		first++
	}
	h.shown.rewritten(first)
	h.entries = append(entries, late...)
	h.refers, h.bytes = countAll(h.entries)
	h.sums = total.addRange(h.sums, len(base.Entries), len(base.Entries)+len(late))
	h.index = nil
}
