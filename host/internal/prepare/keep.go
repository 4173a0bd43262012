package prepare

import (
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/keep"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// keep pins what the settings and people keep and what the model read again, before a strategy sees it, and lets go of
// what is kept no more. Only what was added since the last turn is looked at.
func (t *turn) keep() error {
	s := t.snapshot()
	set := t.req.Settings
	var seal func(id string) string
	if t.req.Marks != nil {
		seal = t.req.Marks.Seal
	}
	t.keeper.Follow(keep.Settings{
		Rules: set.Keep, Seal: seal, Tools: set.Tools, Root: set.WorkspaceRoot, Dirs: &t.dirs,
		Bound: int(set.KeepShare * float64(t.outcome.Limits.Hard)),
	}, len(s.Entries), s.Added, kept(s))
	t.outcome.Warnings = append(t.outcome.Warnings, t.keeper.Warnings()...)
	_, err := t.markKept()
	return err
}

// keepNewest pins what a person said last, before something may take messages out, and returns the history as it is
// then: what is said meanwhile is not in it.
func (t *turn) keepNewest() (history.Snapshot, error) {
	for {
		s := t.snapshot()
		marks := keep.NewestMarks(len(s.Entries), kept(s))
		if len(marks) == 0 {
			return s, nil
		}
		if err := t.mark(s, marks); err != nil {
			return s, err
		}
	}
}

// markKept writes into the history what the keeper decided, and reports whether that changed anything.
func (t *turn) markKept() (changed bool, err error) {
	s := t.snapshot()
	marks := t.keeper.Marks(len(s.Entries), kept(s))
	if err := t.mark(s, marks); err != nil {
		return false, err
	}
	t.keeper.Settled()
	return len(marks) > 0, nil
}

func (t *turn) mark(s history.Snapshot, marks map[int]string) error {
	if len(marks) == 0 {
		return nil
	}
	if err := t.apply(s.PlanKept(marks), outcome.StepKeep); err != nil {
		return fmt.Errorf("mark what is kept: %w", err)
	}
	t.refresh()
	return nil
}

func kept(s history.Snapshot) func(i int) keep.Entry {
	return func(i int) keep.Entry {
		e := s.Entries[i]
		return keep.Entry{ID: e.ID, Tokens: e.Tokens, Content: e.Content}
	}
}

// checkKept returns an error if the request does not fit because of what no step removes: to remove all else would be a
// loss without a gain. What the model read again is let go of at last.
func (t *turn) checkKept() error {
	s, err := t.keepNewest()
	if err != nil {
		return err
	}
	stays := 0
	for _, e := range s.Entries {
		if e.Content.Pinned() && check.KeptBy(e.Content) != tools.Recall {
			stays += e.Tokens
		}
	}
	if float64(stays) <= t.room() {
		return nil
	}
	overflow := t.overflow()
	overflow.Ladder = false
	return overflow
}

// largestKept returns the pinned entries that count most, the largest first, and what all of them count, apart from
// what a person said last.
func (t *turn) largestKept() (most []outcome.LargeEntry, tokens int) {
	s := t.snapshot()
	var pinned []*history.Entry
	at := map[string]int{}
	for i, e := range s.Entries {
		if e.Content.Pinned() && check.KeptBy(e.Content) != keep.Newest {
			pinned, tokens, at[e.ID] = append(pinned, e), tokens+e.Tokens, i
		}
	}
	most = largest(pinned)
	for i := range most {
		most[i].Index = at[most[i].EntryID]
	}
	return most, tokens
}
