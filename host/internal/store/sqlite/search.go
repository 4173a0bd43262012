package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Index implements [store.Searches].
func (s *Store) Index(ctx context.Context, key store.Key, part store.Part) (bool, error) {
	id, _, err := s.find(ctx, key)
	if err != nil {
		return false, err
	}
	return write(ctx, s, func(st *statements, _ *job) (bool, error) { return st.index(key, id, part) })
}

func (st *statements) index(key store.Key, id int64, part store.Part) (bool, error) {
	var n int
	if err := st.sameSession.QueryRowContext(background, id).Scan(&n); err != nil {
		return false, err
	}
	if n == 0 {
		return false, store.NotFound(key)
	}
	if part.After == 0 {
		if _, err := st.deletePieces.ExecContext(background, id); err != nil {
			return false, err
		}
	} else {
		var until uint64
		err := st.indexed.QueryRowContext(background, id).Scan(&until)
		if err != nil || until != part.After {
			return false, err
		}
	}
	for _, number := range slices.Sorted(maps.Keys(part.Pieces)) {
		if _, err := st.piece.ExecContext(background, id, number, int64(part.Until),
			store.Blob(part.Pieces[number])); err != nil {
			return false, err
		}
	}
	return true, nil
}

// Find implements [store.Searches]. It never waits for the writer.
func (s *Store) Find(ctx context.Context, key store.Key, pieces []int) ([]store.Part, error) {
	id, _, err := s.find(ctx, key)
	if err != nil {
		return nil, err
	}
	numbers, err := json.Marshal(append(slices.Clip(pieces), 0))
	if err != nil {
		return nil, err
	}
	rows, err := s.queries.pieces.QueryContext(ctx, id, string(numbers))
	if err != nil {
		return nil, s.fault(ctx, err)
	}
	defer rows.Close()
	var parts store.Parts
	for rows.Next() {
		var number int
		var until uint64
		var data []byte
		if err := rows.Scan(&number, &until, &data); err != nil {
			return nil, s.fault(ctx, err)
		}
		parts.Add(number, until, data)
	}
	return parts, s.fault(ctx, rows.Err())
}

// Last implements [store.Searches]. It never waits for the writer.
func (s *Store) Last(ctx context.Context, key store.Key) (store.Part, error) {
	id, _, err := s.find(ctx, key)
	if err != nil {
		return store.Part{}, err
	}
	var until uint64
	var data []byte
	switch err := s.queries.last.QueryRowContext(ctx, id).Scan(&until, &data); {
	case errors.Is(err, sql.ErrNoRows):
		return store.Part{}, nil
	case err != nil:
		return store.Part{}, s.fault(ctx, err)
	}
	return store.Part{Until: until, Pieces: map[int][]byte{0: data}}, nil
}
