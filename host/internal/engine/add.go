package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/todos"
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
	// answer. A session remembers the last 128 keys. The error wraps [ErrKeyReused] if other entries were added under
	// the key. "" is none.
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
		return 0, 0, s.closedError("add")
	}
	leave, err := s.enter()
	defer leave()
	if err != nil {
		return 0, 0, err
	}
	switch done, err := s.repeated(once); {
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

func (s *Session) countAll(ctx context.Context, counter *tokens.Counter,
	entries []content.Content) ([]history.Count, error) {
	counts, err := counting{counter}.All(ctx, entries)
	if err != nil {
		return nil, fmt.Errorf("session %q: count entries: %w", s.key.ID, err)
	}
	return counts, nil
}

// append adds counted entries, to the transcript log in the same order as to the history.
func (s *Session) append(
	ctx context.Context, entries []content.Content, counts []history.Count, counter *tokens.Counter,
	once *sessionlog.Once,
) (revision uint64, total int, err error) {
	own := make([]content.Content, len(entries))
	for i, c := range entries {
		// The caller may change its slice afterwards. Texts and raw JSON are shared.
		c.Blocks = slices.Clone(c.Blocks)
		own[i] = c
	}
	s.adding.Lock()
	defer s.adding.Unlock()
	if s.done.Err() != nil { // closed while we counted: the transcript log takes nothing more
		return 0, 0, s.closedError("add")
	}
	if now := s.currentCounter(); now.Encoding() != counter.Encoding() { // Set replaced it while we counted
		if counts, err = s.countAll(ctx, now, own); err != nil {
			return 0, 0, err
		}
	}
	if len(own) == 0 {
		now := s.history.Snapshot()
		return now.Revision, now.Tokens, nil
	}
	return s.appendDurably(ctx, own, counts, once)
}

// appendDurably adds entries to the store, if there is one, and then to the history and the transcript log, in the same
// order. Callers hold s.adding.
func (s *Session) appendDurably(
	ctx context.Context, own []content.Content, counts []history.Count, once *sessionlog.Once,
) (revision uint64, total int, err error) {
	for try := 0; ; try++ {
		// Each time, because another host may have added it.
		switch done, err := s.additions.find(once); {
		case err != nil:
			return 0, 0, err
		case done != nil:
			return done.Revision, done.Tokens, nil
		}
		entries := s.history.New(own, counts)
		n, err := s.storeAdded(ctx, entries, once)
		unknown := (*UnknownError)(nil)
		switch {
		case errors.As(err, &unknown):
			unknown.Repeatable = once != nil
			return 0, 0, err
		case err != nil:
			return 0, 0, err
		case n.own: // the store had them already, and they were read from there
			now := s.history.Snapshot()
			return now.Revision, now.Tokens, nil
		case n.moved && try < mostTries: // behind what another host has added
			continue
		case n.moved:
			return 0, 0, s.busyError("add")
		}
		s.logEntries(entries)
		s.own.adds(s.history.Mark())
		revision, total = s.history.AppendEntries(entries)
		for _, c := range counts {
			s.grown.Add(int64(c.Tokens))
		}
		s.additions.took(once, revision, total)
		s.followTasks(own)
		// What could not be written is kept and tried again. The next Prepare or Close fails if it still cannot be
		// written.
		_ = s.log.Flush()
		return revision, total, nil
	}
}

func (s *Session) logEntries(entries []*history.Entry) {
	for _, e := range entries {
		s.log.Add(e.ID, e.Content)
	}
}

func (s *Session) followTasks(entries []content.Content) {
	for _, c := range entries {
		s.tasks.Observe(c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// An agent that sets its tasks itself knows better than its calls say.
	if !s.told {
		s.todos = todos.Active(s.tasks.Todos())
	}
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
