package engine

import (
	"context"
	"math"

	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/tools"
)

const (
	// indexEvery is how many tokens are added to a session, about, before a turn that removed something has its index
	// caught up. Otherwise a search does that.
	indexEvery = 20_000
	// partPassages is how many passages are indexed at once. It bounds how long other writes to the store wait.
	partPassages = 256
	// An index ends behind so many entries of a record, which entryBits have room for.
	entryBits = 24
)

// indexing brings the index of a session up to the end of its log. What is written is written as a whole, part by part,
// so whoever is killed leaves an index that ends earlier.
type indexing struct {
	*search.Indexer
	logReader
	in    store.Store
	after uint64
}

// newIndexing continues an index with these parts; if they cannot be read, it is made again.
func newIndexing(in store.Store, key store.Key, t *tools.Taxonomy, parts []store.Part, ok bool) *indexing {
	x := &indexing{in: in, logReader: logReader{in: in, key: key}}
	var before []byte
	if ok && len(parts) > 0 {
		last := parts[len(parts)-1]
		x.after, before = last.Until, last.Data
	}
	x.Indexer = search.NewIndexer(t, tools.Recalls, before)
	return x
}

// removedSince reports whether the session's history was rewritten since the index ended.
func (x *indexing) removedSince(ctx context.Context) (bool, error) {
	since := store.Choice{From: x.after >> entryBits, Kinds: []store.Kind{store.Rewritten}}
	for _, err := range x.in.Records(ctx, x.key, since) {
		return err == nil, err
	}
	return false, nil
}

// catchUp indexes what was added since the index ended. It reports whether the index is another than before, by this
// host or another one.
func (x *indexing) catchUp(ctx context.Context) (wrote bool, err error) {
	head, err := x.in.Head(ctx, x.key)
	if err != nil {
		return false, err
	}
	end := (head.Revision + 1) << entryBits
	if head.Revision > math.MaxInt64>>entryBits-1 || x.after >= end {
		return false, nil
	}
	first := x.after >> entryBits
	if from := x.From(); from > 0 {
		first = min(first, from)
	}
	choice := store.Choice{From: first, To: head.Revision, Kinds: []store.Kind{store.Added}}
	for step, err := range x.read(ctx, choice) {
		if err != nil {
			return wrote, err
		}
		for i, e := range step.added.Entries {
			if at := step.seq<<entryBits + uint64(i); at < x.after {
				x.Again(step.seq, &e.Content)
			} else {
				x.Add(step.seq, i, &e.Content)
			}
			if x.Size() >= partPassages {
				if more, err := x.write(ctx, step.seq<<entryBits+uint64(i+1)); err != nil || !more {
					return true, err
				}
				wrote = true
			}
		}
	}
	_, err = x.write(ctx, end)
	return true, err
}

func (x *indexing) write(ctx context.Context, until uint64) (more bool, err error) {
	part := store.Part{After: x.after, Until: until}
	part.Data, part.Passages = x.Part()
	more, err = x.in.Index(ctx, x.key, part)
	x.after = until
	return more, err
}

// IndexRecorded brings the index of a session of a store up to the end of its log, as a search does.
func IndexRecorded(ctx context.Context, in store.Store, key store.Key, t *tools.Taxonomy) error {
	found, err := in.Find(ctx, key, nil)
	if err != nil {
		return err
	}
	_, ok := search.NewIndex(found)
	_, err = newIndexing(in, key, t, found.Parts, ok).catchUp(ctx)
	return err
}

// indexLater catches the session's index up after a turn that removed something, if much was added since. A search that
// comes earlier does it itself.
func (s *Session) indexLater() {
	if s.stored == nil || s.grown.Load() < indexEvery || !s.indexing.CompareAndSwap(false, true) {
		return
	}
	s.grown.Store(0)
	in := s.stored.store // read here: the session's memory may be released meanwhile
	s.host.later(func() {
		defer s.indexing.Store(false)
		err := IndexRecorded(s.done, in, s.key, s.taxonomyNow())
		if err != nil && s.done.Err() == nil {
			s.host.log.Warn("what was removed is not indexed yet; a search will do it", "session", s.key.ID, "error", err)
		}
	})
}

// later runs f in the background, unless the host is closed. Close waits for it.
func (h *Host) later(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.background.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				_ = h.Panicked("index", p)
			}
		}()
		f()
	})
}
