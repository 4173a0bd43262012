package window

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/outcome"
)

// A door that edits the agent's own request must know which entry of the view is which of its messages. These methods
// give it the ids. They are not part of package host: agents that send what Prepare returns need none.
//
// Such a door must be the only one in its host to add to the session, and not while a Prepare runs. known is how many
// entries it knows of. If another host has added more, nothing is done, and the error wraps [journal.ErrMoved]: the
// door must read the session again.

// addIdentified is [Session.Add] with Known.
func (s *Session) addIdentified(ctx context.Context, a Addition) (Added, error) {
	leave, err := s.Enter() // otherwise its memory may be released in between
	defer leave()
	if err != nil {
		return Added{}, err
	}
	if _, err := s.Refresh(ctx, nil); err != nil {
		return Added{}, err
	}
	before := s.history.Snapshot().Tokens
	if err := s.knows(*a.Known); err != nil {
		return Added{}, err
	}
	n := len(a.Counted.entries)
	if err := a.Judge.check(a.Counted.entries); err != nil {
		return Added{}, err
	}
	added, err := s.append(ctx, a.Counted, nil)
	if err != nil {
		return Added{}, err
	}
	if err := s.knows(*a.Known + n); err != nil {
		return Added{}, err
	}
	all := s.history.Snapshot().Entries
	for _, e := range all[len(all)-n:] {
		added.IDs = append(added.IDs, e.ID)
	}
	added.Own = added.Tokens - before
	return added, nil
}

// knows returns an error unless exactly known entries were ever added.
func (s *Session) knows(known int) error {
	if added := s.history.Snapshot().Added; added != uint64(known) {
		return fmt.Errorf("session %q: %d entries were added, not %d: %w", s.key.ID, added, known, journal.ErrMoved)
	}
	return nil
}

// PrepareIdentified is [Session.Prepare], which returns the entries of the view with their ids. An entry made for the
// view alone has none. The door says itself which marks the view has: the ids are those of its conversation, which may
// have other sessions too.
func (s *Session) PrepareIdentified(ctx context.Context, known int, o Sending) (Prepared, error) {
	leave, err := s.Enter()
	defer leave()
	if err != nil {
		return Prepared{}, err
	}
	ready, err := s.prepare(ctx, o, true)
	if moved := s.knows(known); moved != nil {
		return Prepared{}, moved
	}
	return ready, err
}

// DropThinking takes the thinking that models refuse behind a change out of the entries with some ids, for good, and
// returns the view as it is then.
func (s *Session) DropThinking(ctx context.Context, known int, o Sending, of map[string]bool) (Prepared, error) {
	leave, err := s.Enter()
	defer leave()
	if err != nil {
		return Prepared{}, err
	}
	if err := s.knows(known); err != nil {
		return Prepared{}, err
	}
	w, req, err := s.request(ctx, o)
	if err != nil {
		return Prepared{}, err
	}
	view, err := w.DropThinking(ctx, req, of)
	return s.prepared(view, outcome.Outcome{}, o), s.settled(ctx, err)
}
