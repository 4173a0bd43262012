package window

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Addition is what is added to a session. [Entries] is one of entries.
type Addition struct {
	// Entries, or Counted: entries that were counted before, which are counted again only if the session counts in another
	// encoding.
	Entries []content.Content
	Counted Counted
	Judge   Judge
	// Key makes it happen once: a repeated addition, in this or another host of the store, gets the first one's answer. A
	// session remembers the last 128 keys. The error wraps [journal.ErrKeyReused] if other entries were added under the
	// key. "" is none.
	Key string
	// Known is how many entries a door knows of that must be the only one to add: see [Session.PrepareIdentified]. Nil for
	// others.
	Known *int
}

// Entries are an addition of entries that are as agents should add them.
func Entries(entries ...content.Content) Addition { return Addition{Entries: entries} }

// Judge says which entries are refused.
type Judge int

const (
	// Strict refuses what is not well formed, and blocks of a kind that the host does not know: it is usually a misspelt
	// kind or a provider's own form.
	Strict Judge = iota
	// Opaque keeps blocks of unknown kinds unchanged.
	Opaque
	// Parsed is Opaque for entries whose raw JSON is known to be valid.
	Parsed
	// Anything is for a stored or recorded conversation: entries that cannot be sent to a model are kept in the history,
	// withheld by Prepare, and named in its outcome.
	Anything
)

// check returns an [*EntryError] for the first entry that is refused.
func (j Judge) check(entries []content.Content) error {
	for i, c := range entries {
		var err error
		switch j {
		case Strict:
			if err = noOpaque(c); err == nil {
				err = check.Content(c)
			}
		case Opaque:
			err = check.Content(c)
		case Parsed:
			err = check.Parsed(c)
		}
		if err != nil {
			return &EntryError{i, err}
		}
	}
	return nil
}

// Added is the history after an addition: its revision and its tokens. IDs are those of the added entries, and Own their
// tokens, for a door that has Known.
type Added struct {
	Revision uint64
	Tokens   int
	IDs      []string
	Own      int
}

// Add appends entries, all or none. It counts each entry, once: that takes 10 to 120 ms per megabyte, and ends with ctx.
//
// It never waits for a Prepare: entries added while one runs are kept after the history it produces. An entry that is
// refused has an error that wraps [ErrInvalidEntry] and gives its position among entries.
func (s *Session) Add(ctx context.Context, a Addition) (Added, error) {
	if a.Counted.entries == nil {
		a.Counted.entries = a.Entries
	}
	if a.Known != nil {
		return s.addIdentified(ctx, a)
	}
	if err := a.Judge.check(a.Counted.entries); err != nil {
		return Added{}, err
	}
	return s.append(ctx, a.Counted, sessionlog.OnceOf(a.Key, a.Counted.entries))
}

// append counts what is not counted yet, outside of any lock, so that a large addition holds nothing up, and gives it
// to the journal.
func (s *Session) append(ctx context.Context, c Counted, once *sessionlog.Once) (Added, error) {
	if s.done.Err() != nil {
		return Added{}, s.failed("add", journal.ErrClosed)
	}
	leave, err := s.Enter()
	defer leave()
	if err != nil {
		return Added{}, err
	}
	switch done, err := s.Repeated(once); {
	case err != nil:
		return Added{}, err
	case done != nil:
		return Added{Revision: done.Revision, Tokens: done.Tokens}, nil
	}
	ctx, cancel := s.untilClosed(ctx)
	defer cancel()
	counting := func(ctx context.Context, counter *tokens.Counter) ([]history.Count, error) {
		counted, err := count(ctx, counter, c.entries)
		if err != nil {
			return nil, s.wrong(err)
		}
		return counted.counts, nil
	}
	if counter := s.currentCounter(); c.counter == nil || c.counter.Encoding() != counter.Encoding() {
		c.counter = counter
		if c.counts, err = counting(ctx, counter); err != nil {
			return Added{}, err
		}
	}
	revision, total, err := s.Append(ctx, journal.Addition{
		Entries: c.entries, Counts: c.counts, Counter: c.counter, Once: once, Recount: counting,
	})
	return Added{Revision: revision, Tokens: total}, err
}
