package engine

import (
	"context"

	"github.com/thresh-dev/thresh/sdk/content"
)

// A door that edits the agent's own request must know which entry of the view is which of its messages. What follows
// gives it the ids. It is not part of package host: agents that send what Prepare returns need none.

// AddIdentified is [Session.AddOpaque] for a caller that is the only one to add, and not while a Prepare runs. It
// returns the ids of the entries, and what they count together, in tokens.
func (s *Session) AddIdentified(ctx context.Context, entries []content.Content) (ids []string, tokens int, err error) {
	before := s.history.Snapshot().Tokens
	_, total, err := s.AddOpaque(ctx, entries...)
	if err != nil {
		return nil, 0, err
	}
	all := s.history.Snapshot().Entries
	for _, e := range all[len(all)-len(entries):] {
		ids = append(ids, e.ID)
	}
	return ids, total - before, nil
}

// PreparedIDs returns the ids of the entries of the last [Prepared], in their order. An entry that was made for the
// view alone has none.
func (s *Session) PreparedIDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, len(s.last.Entries))
	for i, e := range s.last.Entries {
		ids[i] = e.ID
	}
	return ids
}
