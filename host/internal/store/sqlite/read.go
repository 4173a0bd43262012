package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Records implements [store.Sessions]. Readers have their own connections and see what was committed before each page,
// even while the writer is in the middle of a batch.
func (s *Store) Records(ctx context.Context, key store.Key, choice store.Choice) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		id, h, err := s.find(ctx, key)
		if err != nil {
			yield(store.Record{}, err)
			return
		}
		// Pages are separate statements: a slow loop holds no snapshot open, which would keep the log from being moved
		// into the file.
		read := func(p store.Page) ([]store.Record, error) { return s.page(ctx, id, p) }
		exists := func() error { return s.exists(ctx, id, key) }
		for r, err := range store.ReadRecords(h, choice, read, exists) {
			if !yield(r, s.fault(ctx, err)) {
				return
			}
		}
	}
}

// page reads one page. The chosen numbers are one JSON value, because a prepared statement has a fixed number of
// parameters.
func (s *Store) page(ctx context.Context, id int64, p store.Page) ([]store.Record, error) {
	kinds := kindMask(p.Kinds)
	if p.Seqs == nil {
		return scanRecords(s.queries.records.QueryContext(ctx, id, kinds, int64(p.From), int64(p.To), store.PageSize))
	}
	list, err := json.Marshal(p.Seqs)
	if err != nil {
		return nil, err
	}
	return scanRecords(s.queries.chosen.QueryContext(ctx, id, kinds, string(list)))
}

// exists returns an error if the session is gone: an empty page of a deleted session must not look like a short log. It
// looks by the id, which is never reused as a name may be.
func (s *Store) exists(ctx context.Context, id int64, key store.Key) error {
	var n int
	if err := s.queries.exists.QueryRowContext(ctx, id).Scan(&n); err != nil {
		return err
	}
	if n == 0 {
		return store.NotFound(key)
	}
	return nil
}

// scanRecords reads rows of seq, kind and data, and closes them.
func scanRecords(rows *sql.Rows, err error) ([]store.Record, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var records []store.Record
	for rows.Next() {
		var r store.Record
		if err := rows.Scan(&r.Seq, &r.Kind, &r.Data); err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, rows.Err()
}

// kindMask has a bit for each wanted kind, so one prepared statement can choose any of them. 63 kinds fit.
func kindMask(kinds []store.Kind) int64 {
	if len(kinds) == 0 {
		// All bits, including those of later versions' kinds.
		return -1
	}
	var mask int64
	for _, kind := range kinds {
		mask |= 1 << kind
	}
	return mask
}

// Contents implements [store.Sessions]. A lookup in the process takes microseconds, so contents are read one by one.
func (s *Store) Contents(ctx context.Context, owner string, hashes []store.Hash) (map[store.Hash][]byte, error) {
	if s.closed() {
		return nil, store.ErrClosed
	}
	found := make(map[store.Hash][]byte, len(hashes))
	for _, hash := range hashes {
		var data []byte
		switch err := s.queries.content.QueryRowContext(ctx, owner, hash[:]).Scan(&data); {
		case errors.Is(err, sql.ErrNoRows):
			return nil, s.fault(ctx, store.MissingContent(hash))
		case err != nil:
			return nil, s.fault(ctx, err)
		}
		found[hash] = data
	}
	return found, nil
}

// List implements [store.Sessions]. SQLite orders text by bytes unless told otherwise.
func (s *Store) List(ctx context.Context, filter store.Filter) iter.Seq2[store.Head, error] {
	return store.ReadHeads(filter, func(after store.Key, limit int) ([]store.Head, error) {
		heads, err := s.list(ctx, filter, after, limit)
		return heads, s.fault(ctx, err)
	})
}

func (s *Store) list(ctx context.Context, filter store.Filter, after store.Key, limit int) ([]store.Head, error) {
	if s.closed() {
		return nil, store.ErrClosed
	}
	if err := s.displaced(); err != nil {
		return nil, err
	}
	rows, err := s.queries.list.QueryContext(ctx, after.Owner, after.ID, filter.AllOwners, filter.Owner, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var heads []store.Head
	for rows.Next() {
		_, h, err := scanHead(rows)
		if err != nil {
			return nil, err
		}
		heads = append(heads, h)
	}
	return heads, rows.Err()
}
