package journal

import (
	"context"
	"errors"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Search finds passages of what was added and was no longer sent as it was added in the last prepared request; before
// the first, of what is no longer in the history. The best comes first. The error wraps [search.ErrQuery] for a query
// that says nothing, and [ErrNotStored] if the host keeps no sessions.
func (j *Journal) Search(ctx context.Context, t *tools.Taxonomy, q search.Query) (search.Found, error) {
	words, err := q.Parse()
	if err != nil {
		return search.Found{}, err
	}
	if j.store == nil {
		return search.Found{}, j.failed("search", ErrNotStored)
	}
	one := j.sending()
	if one.until == 0 { // nothing was added yet, and the store need not know the session
		return search.Found{}, nil
	}
	f := finder{in: j.store, tools: t, counter: j.session.Counter(), words: words}
	found, err := f.find(ctx, []searched{one})
	switch {
	case errors.Is(err, store.ErrNotFound): // nothing was added yet
		return search.Found{}, nil
	case err != nil:
		return search.Found{}, j.wrong(err)
	}
	return found.one(), nil
}

// Lines returns the lines from first to last, from 1, of a block as it was added: what is around a passage. The error
// wraps [ErrNotRecorded] if there is no such block, and [ErrNotStored] if the host keeps no sessions.
func (j *Journal) Lines(ctx context.Context, t *tools.Taxonomy, entry string, block, first, last int) (
	search.Passage, error) {
	if j.store == nil {
		return search.Passage{}, j.wrong(ErrNotStored)
	}
	p, err := Lines(ctx, j.store, j.key, t, entry, block, first, last)
	if errors.Is(err, store.ErrNotFound) { // nothing was added yet
		err = j.notRecorded(entry)
	}
	p.Tokens = j.session.Counter().Text(p.Text)
	return p, err
}

// Found is a passage of a session.
type Found struct {
	Key store.Key
	search.Passage
}

// Hits is what a search of sessions found, as [search.Found] has it of one.
type Hits struct {
	Found  []Found
	More   int
	Absent []string
}

// one returns what was found in one session.
func (h Hits) one() search.Found {
	f := search.Found{More: h.More, Absent: h.Absent}
	for _, p := range h.Found {
		f.Passages = append(f.Passages, p.Passage)
	}
	return f
}

// Search searches all that was added to sessions of a store, removed or not, without a host. The error wraps
// [search.ErrQuery] for a query that says nothing.
func Search(ctx context.Context, in store.Store, keys []store.Key, t *tools.Taxonomy, q search.Query) (
	Hits, error) {
	all := make([]searched, len(keys))
	for i, key := range keys {
		all[i] = searched{key: key, all: true}
	}
	return searchRecorded(ctx, in, all, t, q)
}

// SearchRemoved finds what is no longer in the history of a session of a store as it was added, without a host.
func SearchRemoved(ctx context.Context, in store.Store, key store.Key, t *tools.Taxonomy, q search.Query) (
	search.Found, error) {
	one := searched{key: key}
	var err error
	if one.sent, one.until, err = present(ctx, in, key); err != nil {
		return search.Found{}, err
	}
	return searchOne(ctx, in, one, t, q)
}

func searchOne(ctx context.Context, in store.Store, one searched, t *tools.Taxonomy, q search.Query) (
	search.Found, error) {
	found, err := searchRecorded(ctx, in, []searched{one}, t, q)
	return found.one(), err
}

func searchRecorded(ctx context.Context, in store.Store, all []searched, t *tools.Taxonomy, q search.Query) (
	Hits, error) {
	words, err := q.Parse()
	if err != nil {
		return Hits{}, err
	}
	counter, err := tokens.For("", "")
	if err != nil {
		return Hits{}, err
	}
	f := finder{in: in, tools: t, counter: counter, words: words}
	return f.find(ctx, all)
}

// present returns the entries of a session's history, and the revision of its log.
func present(ctx context.Context, in store.Store, key store.Key) (entries []*history.Entry, until uint64, err error) {
	head, err := in.Head(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	now := history.New()
	r := logReader{in: in, key: key}
	choice := store.Choice{To: head.Revision, Kinds: []store.Kind{store.Added, store.Rewritten}}
	for step, err := range r.read(ctx, choice) {
		if err != nil {
			return nil, 0, err
		}
		if step.kind == store.Added {
			now.AppendEntries(step.added.Entries)
		} else if err := now.Replay(step.rewritten.Rewrite); err != nil {
			return nil, 0, err
		}
	}
	return now.Snapshot().Entries, head.Revision, nil
}
