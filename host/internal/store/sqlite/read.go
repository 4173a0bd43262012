package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// page is how many rows are read at once. Between pages a reader has no connection, so that a loop over them may call
// the store, and may take as long as it likes.
const page = 512

// Records implements [store.Sessions]. What was appended never changes, so that pages fit together.
func (s *Store) Records(ctx context.Context, key store.Key, choice store.Choice) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		id, h, err := s.find(ctx, key)
		for next := s.pages(id, h, choice); err == nil; {
			var records []store.Record
			var more bool
			if records, more, err = next(ctx); err != nil {
				break
			}
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
			if !more {
				err = s.still(ctx, id, key)
				break
			}
		}
		if err != nil {
			yield(store.Record{}, s.fault(ctx, err))
		}
	}
}

// still returns an error if the session was deleted: what was read may not be all.
func (s *Store) still(ctx context.Context, id int64, key store.Key) error {
	var n int
	if err := s.queries.exists.QueryRowContext(ctx, id).Scan(&n); err != nil {
		return err
	}
	if n == 0 {
		return notFound(key)
	}
	return nil
}

// pages returns a function that reads the next page, and says whether there may be more.
func (s *Store) pages(id int64, h store.Head, choice store.Choice) func(context.Context) ([]store.Record, bool, error) {
	kinds := kindMask(choice.Kinds)
	first, last := max(choice.From, 1), h.Revision
	if choice.To != 0 {
		last = min(last, choice.To)
	}
	if choice.Seqs == nil {
		return func(ctx context.Context) ([]store.Record, bool, error) {
			records, err := scanRecords(s.queries.records.QueryContext(ctx, id, kinds, int64(first), int64(last), page))
			if n := len(records); n > 0 {
				first = records[n-1].Seq + 1
			}
			return records, len(records) == page, err
		}
	}
	seqs := within(choice.Seqs, first, last)
	return func(ctx context.Context) ([]store.Record, bool, error) {
		now := seqs[:min(len(seqs), page)]
		seqs = seqs[len(now):]
		list, err := json.Marshal(now)
		if err != nil {
			return nil, false, err
		}
		records, err := scanRecords(s.queries.chosen.QueryContext(ctx, id, kinds, string(list)))
		return records, len(seqs) > 0, err
	}
}

// scanRecords reads rows of seq, kind and data.
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

// kindMask has a bit for each kind that is wanted.
func kindMask(kinds []store.Kind) int64 {
	if len(kinds) == 0 {
		return -1
	}
	var mask int64
	for _, kind := range kinds {
		mask |= 1 << kind
	}
	return mask
}

// within cuts sorted numbers to a range.
func within(seqs []uint64, first, last uint64) []uint64 {
	from, _ := slices.BinarySearch(seqs, first)
	to, _ := slices.BinarySearch(seqs, last+1)
	return seqs[from:max(from, to)]
}

// Contents implements [store.Sessions].
func (s *Store) Contents(ctx context.Context, owner string, hashes []store.Hash) (map[store.Hash][]byte, error) {
	if s.closed() {
		return nil, store.ErrClosed
	}
	found := make(map[store.Hash][]byte, len(hashes))
	for _, hash := range hashes {
		var data []byte
		switch err := s.queries.content.QueryRowContext(ctx, owner, hash[:]).Scan(&data); {
		case errors.Is(err, sql.ErrNoRows):
			return nil, store.MissingContent(s.path, hash)
		case err != nil:
			return nil, s.fault(ctx, err)
		}
		found[hash] = data
	}
	return found, nil
}

// List implements [store.Sessions].
func (s *Store) List(ctx context.Context, filter store.Filter) iter.Seq2[store.Head, error] {
	return func(yield func(store.Head, error) bool) {
		after := filter.After
		for left := filter.Limit; ; left -= page {
			limit := page
			if filter.Limit > 0 {
				limit = min(page, left)
			}
			heads, err := s.list(ctx, filter, after, limit)
			if err != nil {
				yield(store.Head{}, s.fault(ctx, err))
				return
			}
			for _, h := range heads {
				if !yield(h, nil) {
					return
				}
				after = h.Key
			}
			if len(heads) < page {
				return
			}
		}
	}
}

func (s *Store) list(ctx context.Context, filter store.Filter, after store.Key, limit int) ([]store.Head, error) {
	if s.closed() {
		return nil, store.ErrClosed
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
