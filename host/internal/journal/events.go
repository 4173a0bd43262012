package journal

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/outcome"
)

// Event is a step of a session's log: entries that were added together, or a rewrite.
type Event struct {
	Added []Added
	// Changes are what a rewrite did, in the order of the history, and Strategy is the one in force. Both are empty for
	// additions.
	Changes  []outcome.Change
	Strategy string
	Revision uint64 // of the log
}

// StepLadder is the step of changes that made room without a strategy: the log does not say which rung made which.
const StepLadder = "ladder"

// Events reads a session's log from a store. It needs no host and no strategy. It ends at the first error, which
// wraps [store.ErrNotFound] if there is no such session.
func Events(ctx context.Context, in store.Store, key store.Key) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if _, err := in.Head(ctx, key); err != nil {
			yield(Event{}, err)
			return
		}
		now := history.New()
		r := logReader{in: in, key: key}
		for step, err := range r.read(ctx, store.Choice{Kinds: []store.Kind{store.Added, store.Rewritten}}) {
			e := Event{Revision: step.seq}
			switch {
			case err != nil:
			case step.kind == store.Added:
				now.AppendEntries(step.added.Entries)
				for _, a := range step.added.Entries {
					e.Added = append(e.Added, Added{a.ID, a.Content, a.Tokens, step.seq})
				}
			default:
				before := now.SnapshotAt(&step.rewritten.Base)
				if err = now.Replay(step.rewritten.Rewrite); err != nil {
					break
				}
				e.Strategy, e.Changes = step.rewritten.Strategy, step.rewritten.Changes(before.Entries)
				for i := range e.Changes {
					if e.Changes[i].Step = step.rewritten.Step; e.Changes[i].Step == "" {
						e.Changes[i].Step = StepLadder
					}
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Explain returns the changes, in the order they were made, of the entry with an id, as outcomes name it, or of the
// entries with the tool call of that id; "" is all entries. The error wraps [ErrNotStored] if the host keeps no
// sessions.
func (j *Journal) Explain(ctx context.Context, id string) (all []outcome.Logged, err error) {
	if j.store == nil {
		return nil, j.wrong(ErrNotStored)
	}
	for e, err := range Events(ctx, j.store, j.key) {
		if errors.Is(err, store.ErrNotFound) { // nothing was added yet
			return nil, nil
		}
		if err != nil {
			return nil, j.wrong(err)
		}
		for _, c := range e.Changes {
			if id == "" || c.EntryID == id || slices.Contains(c.Calls, id) {
				all = append(all, outcome.Logged{Revision: e.Revision, Strategy: e.Strategy, Change: c})
			}
		}
	}
	return all, nil
}
