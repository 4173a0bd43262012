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

// Add appends entries, all or none, and returns the history's new revision and its tokens. It counts each entry, once:
// that takes 10 to 120 ms per megabyte, and ends with ctx.
//
// It never waits for a Prepare: entries added while one runs are kept after the history it produces. An entry that is
// not well formed is refused with an error that wraps [ErrInvalidEntry] and gives its position among entries.
//
// A block of a kind that the host does not know is refused too: it is usually a misspelt kind or a provider's own form.
// [Session.AddOpaque] adds such blocks on purpose.
func (s *Session) Add(ctx context.Context, entries ...content.Content) (revision uint64, total int, err error) {
	return s.AddOnce(ctx, "", entries...)
}

// AddOnce is Add with a key that makes it happen once: a repeated call, in this or another host of the store, gets the
// first one's answer. A session remembers the last 128 keys. The error wraps [journal.ErrKeyReused] if other entries
// were added under the key. "" is none.
func (s *Session) AddOnce(ctx context.Context, key string, entries ...content.Content) (
	revision uint64, total int, err error) {
	for i, c := range entries {
		if err := noOpaque(c); err != nil {
			return 0, 0, &EntryError{i, err}
		}
	}
	return s.AddOpaque(ctx, key, entries...)
}

// AddOpaque is AddOnce for entries that may hold blocks of unknown kinds, which it keeps unchanged.
func (s *Session) AddOpaque(ctx context.Context, key string, entries ...content.Content) (
	revision uint64, total int, err error) {
	if err := wellFormed(entries, check.Content); err != nil {
		return 0, 0, err
	}
	return s.append(ctx, Counted{entries: entries}, sessionlog.OnceOf(key, entries))
}

// AddCounted is Add for entries that were counted before, which it counts again only if the session counts in another
// encoding.
func (s *Session) AddCounted(ctx context.Context, c Counted) (revision uint64, total int, err error) {
	if err := wellFormed(c.entries, check.Content); err != nil {
		return 0, 0, err
	}
	return s.append(ctx, c, nil)
}

// Load appends entries of a stored or recorded conversation. Unlike Add it refuses nothing: entries that cannot be sent
// to a model are kept in the history, withheld by Prepare, and named in its outcome.
func (s *Session) Load(ctx context.Context, entries ...content.Content) (revision uint64, total int, err error) {
	return s.append(ctx, Counted{entries: entries}, nil)
}

// wellFormed returns an [*EntryError] for the first entry that judge refuses.
func wellFormed(entries []content.Content, judge func(content.Content) error) error {
	for i, c := range entries {
		if err := judge(c); err != nil {
			return &EntryError{i, err}
		}
	}
	return nil
}

// append counts what is not counted yet, outside of any lock, so that a large addition holds nothing up, and gives it
// to the journal.
func (s *Session) append(ctx context.Context, c Counted, once *sessionlog.Once) (
	revision uint64, total int, err error) {
	if s.done.Err() != nil {
		return 0, 0, s.failed("add", journal.ErrClosed)
	}
	leave, err := s.journal.Enter()
	defer leave()
	if err != nil {
		return 0, 0, err
	}
	switch done, err := s.journal.Repeated(once); {
	case err != nil:
		return 0, 0, err
	case done != nil:
		return done.Revision, done.Tokens, nil
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
			return 0, 0, err
		}
	}
	return s.journal.Append(ctx, journal.Addition{
		Entries: c.entries, Counts: c.counts, Counter: c.counter, Once: once, Recount: counting,
	})
}
