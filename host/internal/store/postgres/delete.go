package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/thresh-dev/thresh/host/internal/store"
)

func (s *Store) Delete(ctx context.Context, key store.Key) error {
	if unspeakable(key) {
		return store.NotFound(key)
	}
	// -1: however recently the session was used
	return s.delete(ctx, key, -1)
}

// delete deletes a session if it has not been used for a time; below 0 the time does not matter. The row is locked
// first, so no append comes between the check of its use and the deletion.
func (s *Store) delete(ctx context.Context, key store.Key, unused time.Duration) error {
	err := s.retry(ctx, func(ctx context.Context, maybe bool) error {
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			var id int64
			err := tx.QueryRow(ctx, `SELECT id FROM thresh_session WHERE owner = $1 AND name = $2
				AND ($3 < 0 OR used < clock_timestamp() - $3 * interval '1 microsecond') FOR UPDATE`,
				key.Owner, key.ID, unused.Microseconds()).Scan(&id)
			if err != nil {
				return err
			}
			var hashes [][]byte
			if err := tx.QueryRow(ctx, "SELECT coalesce(array_agg(hash), '{}') FROM thresh_refer WHERE session = $1",
				id).Scan(&hashes); err != nil {
				return err
			}
			// The database deletes records and references with the session, so what it referred to was read before.
			if _, err := tx.Exec(ctx, "DELETE FROM thresh_session WHERE id = $1", id); err != nil {
				return err
			}
			// If another host has just referred to a content, its foreign key makes this fail and the whole deletion is
			// tried again, so no content is deleted under a session that needs it.
			_, err = tx.Exec(ctx, `DELETE FROM thresh_content c WHERE owner = $1 AND hash = ANY ($2)
				AND NOT EXISTS (SELECT FROM thresh_refer r WHERE r.owner = c.owner AND r.hash = c.hash)`,
				key.Owner, hashes)
			return err
		})
		if errors.Is(err, pgx.ErrNoRows) {
			if maybe {
				return nil // an earlier try has deleted it
			}
			return store.NotFound(key)
		}
		return err
	})
	// Even after a try whose answer was lost: an extra notice does no harm.
	if err == nil {
		s.notify(store.Notice{Key: key})
	}
	return err
}

// Expire implements [store.Sessions]. Each session is deleted by itself, so none waits for the others.
func (s *Store) Expire(ctx context.Context, unused time.Duration) (n int, err error) {
	var keys []store.Key
	err = s.retry(ctx, func(ctx context.Context, _ bool) error {
		rows, err := s.pool.Query(ctx, `SELECT owner, name FROM thresh_session
			WHERE used < clock_timestamp() - $1 * interval '1 microsecond'`, unused.Microseconds())
		if err != nil {
			return err
		}
		keys, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (key store.Key, err error) {
			return key, row.Scan(&key.Owner, &key.ID)
		})
		return err
	})
	if err != nil {
		return 0, err
	}
	return store.DeleteEach(keys, func(key store.Key) error { return s.delete(ctx, key, max(unused, 0)) })
}
