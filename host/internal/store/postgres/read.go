package postgres

import (
	"context"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Records implements [store.Sessions]. Each page is a statement of its own: a broken connection costs one page, and no
// reader keeps others from a connection. Records appended after the first look are not read.
func (s *Store) Records(ctx context.Context, key store.Key, choice store.Choice) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		// Pages are read by the id: a session of the same name created meanwhile has another.
		var id int64
		var h store.Head
		err := s.retry(ctx, func(ctx context.Context, _ bool) (err error) {
			id, h, err = s.head(ctx, key)
			return err
		})
		if err != nil {
			yield(store.Record{}, err)
			return
		}
		// A whole page is read before the loop gets its first record, so another try repeats none.
		read := func(p store.Page) (records []store.Record, err error) {
			err = s.retry(ctx, func(ctx context.Context, _ bool) error {
				records, err = s.page(ctx, id, p)
				return err
			})
			return records, err
		}
		exists := func() error {
			return s.retry(ctx, func(ctx context.Context, _ bool) error {
				if now, _, err := s.head(ctx, key); err != nil || now == id {
					return err
				}
				return store.NotFound(key) // another session has its name
			})
		}
		for r, err := range store.ReadRecords(h, choice, read, exists) {
			if !yield(r, s.fault(ctx, err)) {
				return
			}
		}
	}
}

// page reads one page. Both statements walk the primary key of the session's records; kinds and numbers are parameters,
// so each is prepared once.
func (s *Store) page(ctx context.Context, id int64, p store.Page) ([]store.Record, error) {
	var kinds []int16 // NULL if all kinds are wanted
	for _, kind := range p.Kinds {
		kinds = append(kinds, int16(kind))
	}
	var rows pgx.Rows
	var err error
	if p.Seqs == nil {
		rows, err = s.pool.Query(ctx, `SELECT seq, kind, data FROM thresh_record
			WHERE session = $1 AND ($2::smallint[] IS NULL OR kind = ANY ($2)) AND seq BETWEEN $3 AND $4
			ORDER BY seq LIMIT $5`, id, kinds, int64(p.From), int64(p.To), store.PageSize)
	} else {
		seqs := make([]int64, len(p.Seqs))
		for i, seq := range p.Seqs {
			seqs[i] = int64(seq)
		}
		rows, err = s.pool.Query(ctx, `SELECT seq, kind, data FROM thresh_record
			WHERE session = $1 AND ($2::smallint[] IS NULL OR kind = ANY ($2)) AND seq = ANY ($3)
			ORDER BY seq`, id, kinds, seqs)
	}
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r store.Record, err error) {
		return r, row.Scan(&r.Seq, &r.Kind, &r.Data)
	})
}

// Contents implements [store.Sessions]. One statement reads them all: loading a session may need hundreds.
func (s *Store) Contents(ctx context.Context, owner string, hashes []store.Hash) (
	found map[store.Hash][]byte, err error) {
	names := make([][]byte, len(hashes))
	for i := range hashes {
		names[i] = hashes[i][:]
	}
	err = s.retry(ctx, func(ctx context.Context, _ bool) error {
		// Made again for each try: an earlier one may have been cut off in the middle.
		found = make(map[store.Hash][]byte, len(hashes))
		rows, err := s.pool.Query(ctx,
			"SELECT hash, data FROM thresh_content WHERE owner = $1 AND hash = ANY ($2)", owner, names)
		if err != nil {
			return err
		}
		var hash, data []byte
		_, err = pgx.ForEachRow(rows, []any{&hash, &data}, func() error {
			found[store.Hash(hash)], data = data, nil // the next row must not be written into this one's bytes
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, hash := range hashes {
		// blob never stores NULL, so an empty content is not nil.
		if found[hash] == nil {
			return nil, s.fault(ctx, store.MissingContent(hash))
		}
	}
	return found, nil
}

// List implements [store.Sessions]. A page begins after the last key, so sessions created or deleted between pages move
// no others.
func (s *Store) List(ctx context.Context, filter store.Filter) iter.Seq2[store.Head, error] {
	return store.ReadHeads(filter, func(after store.Key, limit int) (heads []store.Head, err error) {
		err = s.retry(ctx, func(ctx context.Context, _ bool) error {
			rows, err := s.pool.Query(ctx, "SELECT "+headColumns+` FROM thresh_session
				WHERE (owner, name) > ($1, $2) AND ($3 OR owner = $4) ORDER BY owner, name LIMIT $5`,
				// The columns are ordered by bytes (COLLATE "C"), as in all stores.
				after.Owner, after.ID, filter.AllOwners, filter.Owner, limit)
			if err != nil {
				return err
			}
			heads, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (store.Head, error) {
				_, h, err := scanHead(row)
				return h, err
			})
			return err
		})
		return heads, err
	})
}
