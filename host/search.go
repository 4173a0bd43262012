package host

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/outcome"
)

// Query is what [Session.Search] looks for.
type Query struct {
	// Words are words, names and paths, in at most 1,024 bytes. Passages with more of them, and with rarer ones, come
	// first; a word counts half for what is found after a passage with it. Names are also found by their parts. What
	// stands in "double quotes" must occur exactly so: a quote in it is written \", a backslash before one \\.
	Words string
	// Limit is the most passages, up to 100; 0 is 3.
	Limit int
	// Tokens is how many the passages have together at most, up to 1,000,000; 0 is 2,000.
	Tokens int
}

// Search finds passages by words, the best first, in everything that was added to the session and that the last
// prepared history does not have as it was added; before the first Prepare, that the history does not have. Thinking and
// media are not searched. Nothing found is no error.
//
// The error wraps [ErrQuery] if the words cannot be searched for or a bound is out of range ([KindRequest]). Without a
// store (setting sessions.store) it wraps [ErrNotStored].
func (s *Session) Search(ctx context.Context, q Query) ([]outcome.Passage, error) {
	return s.window.Search(ctx, search.Query(q))
}

// Lines returns lines of what was added, sent or not: more around a passage, for instance. A place may reach beyond the
// block's lines; the passage has those that exist. If there is no such block the error wraps [ErrNotRecorded], and
// without a store [ErrNotStored].
func (s *Session) Lines(ctx context.Context, at outcome.Place) (outcome.Passage, error) {
	return s.window.Lines(ctx, at.Entry, at.Block, at.Line, at.Line+at.Lines-1)
}
