package window

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Search finds what the model no longer has: see [journal.Journal.Search].
func (s *Session) Search(ctx context.Context, q search.Query) (search.Found, error) {
	leave, err := s.Enter()
	defer leave()
	if err != nil {
		return search.Found{}, err
	}
	if _, err := s.Refresh(ctx, nil); err != nil {
		return search.Found{}, err
	}
	return s.Journal.Search(ctx, s.taxonomyNow(), q)
}

// Lines returns what is around a passage: see [journal.Journal.Lines].
func (s *Session) Lines(ctx context.Context, entry string, block, first, last int) (search.Passage, error) {
	return s.Journal.Lines(ctx, s.taxonomyNow(), entry, block, first, last)
}

func (s *Session) taxonomyNow() *tools.Taxonomy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taxonomy
}
