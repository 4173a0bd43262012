package prepare

import (
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/keep"
	"github.com/thresh-dev/thresh/host/outcome"
)

// keep pins what the settings and people keep, before a strategy sees it, and lets go of what is kept no more. Only what
// was added since the last turn is looked at.
func (t *turn) keep() error {
	s := t.snapshot()
	set := t.req.Settings
	entry := func(i int) keep.Entry {
		e := s.Entries[i]
		return keep.Entry{ID: e.ID, Tokens: e.Tokens, Content: e.Content}
	}
	t.keeper.Follow(keep.Settings{
		Rules: set.Keep, Tools: set.Tools, Root: set.WorkspaceRoot, Dirs: &t.dirs,
		Bound: int(set.KeepShare * float64(t.outcome.Limits.Hard)),
	}, len(s.Entries), s.Added, entry)
	t.outcome.Warnings = append(t.outcome.Warnings, t.keeper.Warnings()...)
	if marks := t.keeper.Marks(len(s.Entries), entry); len(marks) > 0 {
		if err := t.apply(s.PlanKept(marks), outcome.StepKeep); err != nil {
			return fmt.Errorf("mark what is kept: %w", err)
		}
		t.refresh()
	}
	t.keeper.Settled()
	return nil
}

// kept returns the pinned entries that count most, the largest first, and what all of them count.
func (t *turn) kept() (most []outcome.LargeEntry, tokens int) {
	s := t.snapshot()
	var pinned []*history.Entry
	at := map[string]int{}
	for i, e := range s.Entries {
		if e.Content.Pinned() {
			pinned, tokens, at[e.ID] = append(pinned, e), tokens+e.Tokens, i
		}
	}
	most = largest(pinned)
	for i := range most {
		most[i].Index = at[most[i].EntryID]
	}
	return most, tokens
}
