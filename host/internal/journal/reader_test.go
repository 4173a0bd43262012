package journal_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// failing is a store that answers so many calls, and gives so many records, and then nothing.
type failing struct {
	store.Store
	left int
}

func (f *failing) call() error {
	if f.left--; f.left < 0 {
		return errGone
	}
	return nil
}

func (f *failing) Head(ctx context.Context, key store.Key) (store.Head, error) {
	if err := f.call(); err != nil {
		return store.Head{}, err
	}
	return f.Store.Head(ctx, key)
}

func (f *failing) Records(ctx context.Context, key store.Key, c store.Choice) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for record, err := range f.Store.Records(ctx, key, c) {
			if failed := f.call(); failed != nil {
				yield(store.Record{}, failed)
				return
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

func (f *failing) Contents(ctx context.Context, owner string, hashes []store.Hash) (map[store.Hash][]byte, error) {
	if err := f.call(); err != nil {
		return nil, err
	}
	return f.Store.Contents(ctx, owner, hashes)
}

func (f *failing) List(ctx context.Context, filter store.Filter) iter.Seq2[store.Head, error] {
	if err := f.call(); err != nil {
		return func(yield func(store.Head, error) bool) { yield(store.Head{}, err) }
	}
	return f.Store.List(ctx, filter)
}

func (f *failing) Last(ctx context.Context, key store.Key) (store.Part, error) {
	if err := f.call(); err != nil {
		return store.Part{}, err
	}
	return f.Store.Last(ctx, key)
}

func (f *failing) Find(ctx context.Context, key store.Key, pieces []int) ([]store.Part, error) {
	if err := f.call(); err != nil {
		return nil, err
	}
	return f.Store.Find(ctx, key, pieces)
}

// Wherever a store stops answering, whoever reads it says so, and gives nothing for all that is there.
func TestNoReaderSwallowsAnErrorOfTheStore(t *testing.T) {
	onStores(t, func(t *testing.T, both [2]store.Store) {
		key := store.Key{ID: "s"}
		writer := open(t, both[0], key, nil)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			for _, text := range []string{"one zebra", strings.Repeat("a large zebra\n", 2000), "three"} {
				_, _, err := writer.add("", text)
				must(err)
			}
			plan, err := writer.History().Snapshot().PlanOptimize(t.Context(), []rewrite.Edit{{Index: 1, Remove: true}}, count)
			must(err)
			must(writer.Rewrite(plan, "optimize", "test"))
			must(writer.Settle(t.Context()))
		}
		taxonomy, err := tools.New()
		must(err)
		zebra := search.Query{Words: "zebra"}
		for name, read := range map[string]func(store.Store) (any, error){
			"Read": func(in store.Store) (any, error) { return journal.Read(t.Context(), in, key) },
			"Check": func(in store.Store) (any, error) {
				whole, damaged, err := journal.Check(t.Context(), in)
				return []any{whole, damaged}, err
			},
			"Events": func(in store.Store) (any, error) {
				var all []journal.Event
				for e, err := range journal.Events(t.Context(), in, key) {
					if err != nil {
						return nil, err
					}
					all = append(all, e)
				}
				return all, nil
			},
			"Find": func(in store.Store) (any, error) { return journal.Find(t.Context(), in, key, "e15") },
			"Lines": func(in store.Store) (any, error) {
				return journal.Lines(t.Context(), in, key, taxonomy, "e2", 0, 1, 2)
			},
			"Search": func(in store.Store) (any, error) {
				return journal.Search(t.Context(), in, []store.Key{key}, taxonomy, zebra)
			},
			"SearchRemoved": func(in store.Store) (any, error) {
				return journal.SearchRemoved(t.Context(), in, key, taxonomy, zebra)
			},
			"Open, Explain and Originals": func(in store.Store) (any, error) {
				h, err := opened(in, key, nil)
				if err != nil {
					return nil, err
				}
				changes, err := h.Explain(t.Context(), "")
				if err != nil {
					return nil, err
				}
				first, err := h.Originals(t.Context(), "e1")
				return []any{lines(h.History().Snapshot().Entries), changes, first}, err
			},
		} {
			want, err := read(both[1])
			must(err)
			for n := 0; ; n++ {
				f := &failing{Store: both[1], left: n}
				got, err := read(f)
				if err == nil && !cmp.Equal(got, want) || err != nil && !store.IsCause(err, store.Gone) {
					t.Errorf("%s, %d calls answered: %.200v, %v", name, n, got, err)
				}
				if f.left >= 0 {
					break
				}
			}
		}
	})
}
