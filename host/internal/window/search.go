package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Search finds passages of what was added to the session and was no longer sent as it was added in the last prepared
// request; before the first, of what is no longer in the history. The best comes first. The error wraps
// [search.ErrQuery] for a query that says nothing, and [journal.ErrNotStored] if the host keeps no sessions.
func (s *Session) Search(ctx context.Context, q search.Query) ([]search.Passage, error) {
	words, err := q.Parse()
	if err != nil {
		return nil, err
	}
	leave, err := s.journal.Enter()
	defer leave()
	if err != nil {
		return nil, err
	}
	if !s.journal.Stored() {
		return nil, fmt.Errorf("search session %q: %w", s.key.ID, journal.ErrNotStored)
	}
	if _, err := s.Refresh(ctx, nil); err != nil {
		return nil, err
	}
	sent := s.journal.Sending(func() (history.View, bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.last, s.viewed
	})
	if sent.Until == 0 { // nothing was added yet, and the store need not know the session
		return nil, nil
	}
	found, err := journal.SearchSent(ctx, s.host.store, sent, s.taxonomyNow(), s.currentCounter(), words)
	if errors.Is(err, store.ErrNotFound) { // nothing was added yet
		return nil, nil
	}
	if err != nil {
		return nil, s.wrong(err)
	}
	return found, nil
}

func (s *Session) taxonomyNow() *tools.Taxonomy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taxonomy
}

// Lines returns the lines from first to last, from 1, of a block as it was added: what is around a passage. The error
// wraps [journal.ErrNotRecorded] if there is no such block, and [journal.ErrNotStored] if the host keeps no sessions.
func (s *Session) Lines(ctx context.Context, entry string, block, first, last int) (search.Passage, error) {
	if !s.journal.Stored() {
		return search.Passage{}, s.wrong(journal.ErrNotStored)
	}
	p, err := journal.Lines(ctx, s.host.store, s.key, s.taxonomyNow(), entry, block, first, last)
	if errors.Is(err, store.ErrNotFound) { // nothing was added yet
		err = s.wrong(fmt.Errorf("%q: %w", entry, journal.ErrNotRecorded))
	}
	p.Tokens = s.currentCounter().Text(p.Text)
	return p, err
}
