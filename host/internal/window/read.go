package window

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Refresh takes in what other hosts have written: see [journal.Journal.Refresh].
func (s *Session) Refresh(ctx context.Context, upTo *history.Point) (*history.Point, error) {
	return s.journal.Refresh(ctx, upTo)
}

// Position returns the revision of the session's log as this host knows it; 0 without a store.
func (s *Session) Position() uint64 { return s.journal.Position() }

// Marks returns the ids in the marks of the session's views: see [journal.Journal.Marks].
func (s *Session) Marks(ctx context.Context) (journal.Marks, error) { return s.journal.Marks(ctx) }

// Bytes is about how much memory the session's history takes.
func (s *Session) Bytes() int { return s.history.Bytes() }

// Originals returns what was added under an id: see [journal.Journal.Originals].
func (s *Session) Originals(ctx context.Context, id string) ([]content.Content, error) {
	return s.journal.Originals(ctx, id)
}

// Explain returns what became of entries: see [journal.Journal.Explain].
func (s *Session) Explain(ctx context.Context, id string) ([]outcome.Logged, error) {
	return s.journal.Explain(ctx, id)
}
