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

// searched is a session to search.
type searched struct {
	key store.Key
	// all: everything that was added is found, but for what is in sent.
	all bool
	// until is the last record that counts.
	until uint64
	// sent are entries whose blocks are not found as far as they are as they were added; what stands in one of texts is
	// not found either.
	sent  []*history.Entry
	texts []string
}

// finder searches sessions of a store.
type finder struct {
	in      store.Store
	tools   *tools.Taxonomy
	counter *tokens.Counter
	words   search.Parsed
}

func (f *finder) find(ctx context.Context, all []searched) (hits Hits, err error) {
	indexes := make([]search.Index, len(all))
	shelves := make([]*shelf, len(all))
	for i, one := range all {
		indexes[i], err = f.index(ctx, one)
		if err != nil && (len(all) == 1 || !errors.Is(err, store.ErrNotFound)) { // one of many may be deleted meanwhile
			return hits, err
		}
		shelves[i] = newShelf(f, one)
	}
	may := func(session int, at search.Spot) bool { return shelves[session].may(at) }
	// A string in quotes is looked for within words only if it stands nowhere between words.
	for _, within := range []bool{false, true} {
		t := taking{finder: f, indexes: indexes, shelves: shelves, ranking: f.words.Rank(indexes, within, may)}
		if hits.Found, err = t.take(ctx); err != nil || len(hits.Found) > 0 || !f.words.Quotes() {
			hits.More = t.ranking.More()
			break
		}
	}
	hits.Absent = f.words.Absent(indexes, may)
	return hits, err
}

// index returns a session's index for the query. Without one.all it need not have what was added since something was
// removed last, which the model still has.
func (f *finder) index(ctx context.Context, one searched) (search.Index, error) {
	pieces := f.words.Pieces()
	parts, err := f.in.Find(ctx, one.key, pieces)
	for err == nil {
		var last store.Part
		if len(parts) > 0 {
			last = parts[len(parts)-1]
		}
		x := newIndexing(f.in, one.key, f.tools, last, func(p store.Part) {
			if p.After == 0 {
				parts = nil
			}
			parts = append(parts, p.With(pieces))
		})
		need := one.all
		if !need {
			if need, err = x.removedSince(ctx); err != nil {
				break
			}
		}
		if need {
			if err = x.catchUp(ctx); err != nil {
				break
			}
		}
		index, ok := f.words.NewIndex(parts)
		if ok {
			return index, nil
		}
		parts = nil // made again
	}
	return search.Index{}, err
}
