package history

import (
	"slices"

	"github.com/thresh-dev/thresh/host/internal/provider/apis"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// PlanThoughtless returns the rewrite that takes sealed thinking out of the entries with some ids; nil if they have
// none. An entry with nothing else is removed.
func (s Snapshot) PlanThoughtless(of map[string]bool) *Plan {
	p := &Plan{base: s, After: s.Tokens, Replacements: map[int]content.Content{}}
	for i, e := range s.Entries {
		if !of[e.ID] || !Sealed(e.Content) {
			continue
		}
		now := check.Part{Index: i, Edited: true, Content: e.Content}
		now.Content.Blocks = nil
		for j, b := range e.Content.Blocks {
			if !apis.Sealed(b) {
				now.Content.Blocks, now.Kept = append(now.Content.Blocks, b), append(now.Kept, j)
			}
		}
		now.Of = now.Kept
		p.After -= e.Tokens
		if len(now.Kept) == 0 {
			p.Removals = append(p.Removals, i)
			p.changes, p.changed = append(p.changes, check.Change{Part: now, Removed: true}), append(p.changed, nil)
			continue
		}
		left := &Entry{ID: e.ID, Content: now.Content, Count: recount(e.Count, now.Kept, nil), Refers: e.Refers}
		p.After += left.Tokens
		p.Replacements[i] = now.Content
		p.changes, p.changed = append(p.changes, check.Change{Part: now}), append(p.changed, left)
	}
	if p.changes == nil {
		return nil
	}
	return p
}

// Sealed reports whether an entry has thinking that some models take back only behind exactly what it was made behind.
func Sealed(c content.Content) bool {
	return slices.ContainsFunc(c.Blocks, apis.Sealed)
}
