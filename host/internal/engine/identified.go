package engine

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
)

// A door that edits the agent's own request must know which entry of the view is which of its messages. What follows
// gives it the ids. It is not part of package host: agents that send what Prepare returns need none.

// AddIdentified is [Session.AddOpaque] for a caller that is the only one to add, and not while a Prepare runs. It
// returns the ids of the entries, and what they count together, in tokens.
func (s *Session) AddIdentified(ctx context.Context, entries []content.Content) (ids []string, tokens int, err error) {
	leave, err := s.enter() // otherwise its memory may be released in between
	defer leave()
	if err != nil {
		return nil, 0, err
	}
	before := s.history.Snapshot().Tokens
	_, total, err := s.AddOpaque(ctx, entries...)
	if err != nil {
		return nil, 0, err
	}
	// The caller is the only one to add, so the last entries are its own.
	all := s.history.Snapshot().Entries
	for _, e := range all[len(all)-len(entries):] {
		ids = append(ids, e.ID)
	}
	return ids, total - before, nil
}

// PrepareIdentified is [Session.Prepare] that also returns the ids of the entries of the history, in their order. An
// entry that was made for the view alone has none. Without a history ids is nil.
func (s *Session) PrepareIdentified(ctx context.Context, o PrepareOptions) (ready Prepared, ids []string, err error) {
	leave, err := s.enter()
	defer leave()
	if err != nil {
		return Prepared{}, nil, err
	}
	ready, err = s.Prepare(ctx, o)
	// The last view is the one that Prepare has just returned.
	s.mu.Lock()
	defer s.mu.Unlock()
	if ready.History != nil {
		ids = make([]string, len(s.last.Entries))
		for i, e := range s.last.Entries {
			ids[i] = e.ID
		}
	}
	return ready, ids, err
}

// Added is an entry as it was added to a session, before any strategy saw it. Its content is what the agent sent, so it
// can be compared with what the agent sends again.
type Added struct {
	ID      string
	Content content.Content
	Tokens  int
}

// Added returns every entry that was ever added to a session of a store, in order. A session without a store has none
// to return. Contents must not be changed. It reads the log, not the history: entries that a rewrite removed are among
// them. A session that was never written to has none.
func (s *Session) Added(ctx context.Context) (all []Added, err error) {
	leave, err := s.enter()
	defer leave()
	if err != nil || s.stored == nil || !s.stored.exists {
		return nil, err
	}
	r := logReader{in: s.stored.store, key: s.stored.key}
	// Rewritten entries are in records of another kind, and are left out.
	for step, err := range r.read(ctx, store.Choice{Kinds: []store.Kind{store.Added}}) {
		if err != nil {
			return nil, s.storeError(err)
		}
		for _, e := range step.added.Entries {
			all = append(all, Added{e.ID, e.Content, e.Tokens})
		}
	}
	return all, nil
}
