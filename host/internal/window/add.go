package window

import (
	"context"
	"fmt"

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
	return s.AddWith(ctx, AddOptions{}, entries...)
}

// AddOpaque is Add for entries that may hold blocks of unknown kinds, which it keeps unchanged.
func (s *Session) AddOpaque(ctx context.Context, entries ...content.Content) (revision uint64, total int, err error) {
	return s.AddWith(ctx, AddOptions{Opaque: true}, entries...)
}

// AddOptions say how entries are added. The zero value is what [Session.Add] does.
type AddOptions struct {
	// Key makes the addition happen once: a repeated call, in this or another host of the store, gets the first one's
	// answer. A session remembers the last 128 keys. The error wraps [journal.ErrKeyReused] if other entries were added
	// under the key. "" is none.
	Key string
	// Opaque allows entries as [Session.AddOpaque] takes them.
	Opaque bool
}

// AddWith is Add with options.
func (s *Session) AddWith(ctx context.Context, o AddOptions, entries ...content.Content) (
	revision uint64, total int, err error) {
	for i, c := range entries {
		if err := noOpaque(c); err != nil && !o.Opaque {
			return 0, 0, &EntryError{i, err}
		}
	}
	if err := wellFormed(entries, check.Content); err != nil {
		return 0, 0, err
	}
	if o.Key == "" {
		return s.countAndAppend(ctx, entries, nil)
	}
	return s.countAndAppend(ctx, entries, sessionlog.OnceOf(o.Key, entries))
}

// Load appends entries of a stored or recorded conversation. Unlike Add it refuses nothing: entries that cannot be sent
// to a model are kept in the history, withheld by Prepare, and named in its outcome.
func (s *Session) Load(ctx context.Context, entries ...content.Content) (revision uint64, total int, err error) {
	return s.countAndAppend(ctx, entries, nil)
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

// countAndAppend counts outside of any lock, so a large addition holds nothing up.
func (s *Session) countAndAppend(ctx context.Context, entries []content.Content, once *sessionlog.Once) (
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
	counter := s.currentCounter()
	counts, err := s.countAll(ctx, counter, entries)
	if err != nil {
		return 0, 0, err
	}
	return s.append(ctx, entries, counts, counter, once)
}

func (s *Session) append(ctx context.Context, entries []content.Content, counts []history.Count,
	counter *tokens.Counter, once *sessionlog.Once) (revision uint64, total int, err error) {
	return s.journal.Append(ctx, journal.Addition{Entries: entries, Counts: counts, Counter: counter, Once: once,
		Recount: func(ctx context.Context, c *tokens.Counter) ([]history.Count, error) {
			return s.countAll(ctx, c, entries)
		}})
}

func (s *Session) countAll(ctx context.Context, counter *tokens.Counter,
	entries []content.Content) ([]history.Count, error) {
	counts, err := counting{counter}.All(ctx, entries)
	if err != nil {
		return nil, fmt.Errorf("session %q: count entries: %w", s.key.ID, err)
	}
	return counts, nil
}

type counting struct{ *tokens.Counter }

// All counts entries block by block. A block counts as much as an entry with only that block, less the frame, which is
// what an empty entry counts.
func (c counting) All(ctx context.Context, entries []content.Content) ([]history.Count, error) {
	blocks := 0
	for _, e := range entries {
		blocks += len(e.Blocks)
	}
	single := make([]content.Content, 0, blocks)
	for _, e := range entries {
		for i := range e.Blocks {
			single = append(single, content.Content{Speaker: e.Speaker, Blocks: e.Blocks[i : i+1]})
		}
	}
	counted, err := c.CountAll(ctx, single, nil)
	if err != nil {
		return nil, err
	}
	frame := c.Entry(content.Content{})
	counts, all := make([]history.Count, len(entries)), make([]int32, blocks)
	for i, e := range entries {
		n := history.Count{Tokens: frame, Blocks: all[:len(e.Blocks):len(e.Blocks)]}
		for j := range e.Blocks {
			n.Blocks[j] = int32(counted[j] - frame)
			n.Tokens += counted[j] - frame
		}
		counted, all = counted[len(e.Blocks):], all[len(e.Blocks):]
		counts[i] = n
	}
	return counts, nil
}
