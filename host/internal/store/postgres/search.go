package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// indexLock is the first key of the advisory locks under which sessions' indexes are written.
const indexLock = 0x69647873 // "idxs"

// Index implements [store.Searches]. A part that was written although its answer was lost is refused when it is tried
// again, and the caller looks at what is there.
func (s *Store) Index(ctx context.Context, key store.Key, part store.Part) (done bool, err error) {
	if unspeakable(key) {
		return false, store.NotFound(key)
	}
	numbers, data := make([]int16, 0, len(part.Pieces)), make([][]byte, 0, len(part.Pieces))
	for number, piece := range part.Pieces {
		numbers, data = append(numbers, int16(number)), append(data, store.Blob(piece))
	}
	err = s.retry(ctx, func(ctx context.Context, _ bool) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			var id int64
			// Keeps the session from being deleted, and holds up no append.
			err := tx.QueryRow(ctx, "SELECT id FROM thresh_session WHERE owner = $1 AND name = $2 FOR KEY SHARE",
				key.Owner, key.ID).Scan(&id)
			if errors.Is(err, pgx.ErrNoRows) {
				return store.NotFound(key)
			}
			if err != nil {
				return err
			}
			// Parts come one after the other. Two sessions with the same lock only wait for each other.
			if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1, $2)", indexLock, int32(id)); err != nil {
				return err
			}
			if part.After == 0 {
				if _, err := tx.Exec(ctx, "DELETE FROM thresh_piece WHERE session = $1", id); err != nil {
					return err
				}
			}
			written, err := tx.Exec(ctx, `INSERT INTO thresh_piece (session, until, number, data)
				SELECT $1, $2, p.number, p.data FROM unnest($3::smallint[], $4::bytea[]) AS p (number, data)
				WHERE $5 = (SELECT coalesce(max(until), 0) FROM thresh_piece WHERE session = $1 AND number = 0)`,
				id, int64(part.Until), numbers, data, int64(part.After))
			done = written.RowsAffected() > 0
			return err
		})
	})
	return done, err
}

// Find implements [store.Searches].
func (s *Store) Find(ctx context.Context, key store.Key, pieces []int) ([]store.Part, error) {
	numbers := []int16{0}
	for _, number := range pieces {
		numbers = append(numbers, int16(number))
	}
	return s.pieces(ctx, key, `SELECT p.number, p.until, p.data FROM thresh_session s
		LEFT JOIN thresh_piece p ON p.session = s.id AND p.number = ANY ($3)
		WHERE s.owner = $1 AND s.name = $2 ORDER BY p.number, p.until`, numbers)
}

// Last implements [store.Searches].
func (s *Store) Last(ctx context.Context, key store.Key) (store.Part, error) {
	parts, err := s.pieces(ctx, key, `SELECT p.number, p.until, p.data FROM thresh_session s
		LEFT JOIN thresh_piece p ON p.session = s.id AND p.number = 0
		WHERE s.owner = $1 AND s.name = $2 ORDER BY p.until DESC LIMIT 1`)
	if err != nil || len(parts) == 0 {
		return store.Part{}, err
	}
	return parts[0], nil
}

// pieces reads the pieces of a session, which the statement gives one row without any, in one round trip.
func (s *Store) pieces(ctx context.Context, key store.Key, statement string, more ...any) (parts store.Parts, err error) {
	if unspeakable(key) {
		return nil, store.NotFound(key)
	}
	err = s.retry(ctx, func(ctx context.Context, _ bool) error {
		parts = nil // of an earlier try
		rows, err := s.pool.Query(ctx, statement, append([]any{key.Owner, key.ID}, more...)...)
		if err != nil {
			return err
		}
		var number *int16
		var until *int64
		var data []byte
		got, err := pgx.ForEachRow(rows, []any{&number, &until, &data}, func() error {
			if number != nil {
				parts.Add(int(*number), uint64(*until), data)
			}
			data = nil // the next row must not be written into this one's bytes
			return nil
		})
		if err == nil && got.RowsAffected() == 0 {
			return store.NotFound(key)
		}
		return err
	})
	return parts, err
}
