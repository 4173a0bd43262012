package journal

import (
	"context"
	"math"

	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/tools"
)

const (
	// partPassages is how many passages are indexed at once. It bounds how long other writes to the store wait.
	partPassages = 96
	// minKept is how many passages or entries a part has that is kept. A smaller one is made again whenever it is
	// needed: many small parts would make each search slower.
	minKept = 16
	// An index ends behind so many entries of a record, which entryBits have room for.
	entryBits = 24
)

// indexing brings the index of a session up to the end of its log, but for a last part that is too small to keep. What
// is written is written as a whole, part by part, so whoever is killed leaves an index that ends earlier.
type indexing struct {
	*search.Indexer
	logReader
	in      store.Store
	after   uint64
	entries int // since then
	// overtaken says that another host has written the index meanwhile.
	overtaken bool
	made      func(store.Part)
}

// newIndexing continues an index behind its last part, or makes another one if that cannot be read. made gets each new
// part, kept or not.
func newIndexing(in store.Store, key store.Key, t *tools.Taxonomy, last store.Part, made func(store.Part)) *indexing {
	x := &indexing{in: in, logReader: logReader{in: in, key: key}, made: made}
	ok := false
	if x.Indexer, ok = search.NewIndexer(t, tools.Recalls, last); ok {
		x.after = last.Until
	}
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

// catchUp indexes what was added since the index ended.
func (x *indexing) catchUp(ctx context.Context) error {
	head, err := x.in.Head(ctx, x.key)
	if err != nil {
		return err
	}
	end := (head.Revision + 1) << entryBits
	if head.Revision > math.MaxInt64>>entryBits-1 || x.after >= end {
		return nil
	}
	first := x.after >> entryBits
	if from := x.From(); from > 0 {
		first = min(first, from)
	}
	choice := store.Choice{From: first, To: head.Revision, Kinds: []store.Kind{store.Added}}
	for step, err := range x.read(ctx, choice) {
		if err != nil {
			return err
		}
		for i, e := range step.added.Entries {
			if at := step.seq<<entryBits + uint64(i); at < x.after {
				x.Again(step.seq, &e.Content)
				continue
			}
			x.Add(step.seq, i, &e.Content)
			if x.entries++; x.Passages() >= partPassages {
				if err := x.end(ctx, step.seq<<entryBits+uint64(i+1)); err != nil {
					return err
				}
			}
		}
	}
	return x.end(ctx, end)
}

// end ends a part.
func (x *indexing) end(ctx context.Context, until uint64) error {
	if x.entries == 0 {
		return nil
	}
	small := max(x.Passages(), x.entries) < minKept
	part := store.Part{After: x.after, Until: until, Pieces: x.Part()}
	x.after, x.entries = until, 0
	if x.made != nil {
		x.made(part)
	}
	if small || x.overtaken {
		return nil
	}
	written, err := x.in.Index(ctx, x.key, part)
	x.overtaken = !written
	return err
}

// Index brings the index of a session of a store up to the end of its log, but for what is too little to keep.
func Index(ctx context.Context, in store.Store, key store.Key, t *tools.Taxonomy) error {
	last, err := in.Last(ctx, key)
	if err != nil {
		return err
	}
	return newIndexing(in, key, t, last, nil).catchUp(ctx)
}

// indexEvery is how many tokens are added to a session, about, before its index is due: a search that comes earlier
// catches it up itself.
const indexEvery = 20_000

// IndexDue reports whether much was added since the session's index was caught up. The caller then calls
// [Journal.Index].
func (j *Journal) IndexDue() bool {
	if j.store == nil || j.grown.Load() < indexEvery || !j.indexing.CompareAndSwap(false, true) {
		return false
	}
	j.grown.Store(0)
	return true
}

// Index catches up the session's index, until the session ends.
func (j *Journal) Index(t *tools.Taxonomy) error {
	defer j.indexing.Store(false)
	if err := Index(j.done, j.store, j.key, t); err != nil && j.done.Err() == nil {
		return err
	}
	return nil
}
