package postgres

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Index implements [store.Searches]. The session's row is locked, so parts come one after the other. A part that was
// written although its answer was lost is refused when it is tried again, and the caller looks at what is there.
func (s *Store) Index(ctx context.Context, key store.Key, part store.Part) (done bool, err error) {
	if unspeakable(key) {
		return false, store.NotFound(key)
	}
	err = s.retry(ctx, func(ctx context.Context, _ bool) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			done, err = index(ctx, tx, key, part)
			return err
		})
	})
	return done, err
}

func index(ctx context.Context, tx pgx.Tx, key store.Key, part store.Part) (bool, error) {
	var id int64
	err := tx.QueryRow(ctx, "SELECT id FROM thresh_session WHERE owner = $1 AND name = $2 FOR NO KEY UPDATE",
		key.Owner, key.ID).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, store.NotFound(key)
	}
	if err != nil {
		return false, err
	}
	var until, next int64
	err = tx.QueryRow(ctx, "SELECT until, first + passages FROM thresh_part WHERE session = $1 ORDER BY until DESC LIMIT 1",
		id).Scan(&until, &next)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return false, err
	}
	if part.After != 0 && uint64(until) != part.After {
		return false, nil
	}
	first, err := part.Next(int(next))
	if err != nil {
		return false, err
	}
	if part.After == 0 {
		if _, err := tx.Exec(ctx, "DELETE FROM thresh_passage WHERE session = $1", id); err != nil {
			return false, err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM thresh_part WHERE session = $1", id); err != nil {
			return false, err
		}
	}
	if _, err := tx.Exec(ctx, `INSERT INTO thresh_part (session, first, passages, after, until, data)
		VALUES ($1, $2, $3, $4, $5, $6)`, id, first, len(part.Passages), int64(part.After), int64(part.Until),
		store.Blob(part.Data)); err != nil {
		return false, err
	}
	var batch pgx.Batch
	before := prefix(id)
	for i, terms := range part.Passages {
		named := make([]string, len(terms))
		for j, t := range terms {
			named[j] = before + t
		}
		batch.Queue("INSERT INTO thresh_passage (session, number, terms) VALUES ($1, $2, array_to_tsvector($3))",
			id, first+i, named)
	}
	return true, tx.SendBatch(ctx, &batch).Close()
}

// prefix begins the terms of a session. No term has an underscore of its own.
func prefix(session int64) string { return strconv.FormatInt(session, 36) + "_" }

// Find implements [store.Searches].
func (s *Store) Find(ctx context.Context, key store.Key, terms []string) (found store.Index, err error) {
	if unspeakable(key) {
		return found, store.NotFound(key)
	}
	err = s.retry(ctx, func(ctx context.Context, _ bool) error {
		id, _, err := s.head(ctx, key)
		if err != nil {
			return err
		}
		found, err = s.indexed(ctx, id, terms)
		return err
	})
	return found, err
}

func (s *Store) indexed(ctx context.Context, id int64, terms []string) (found store.Index, err error) {
	rows, err := s.pool.Query(ctx, "SELECT first, after, until, data FROM thresh_part WHERE session = $1 ORDER BY until", id)
	if err != nil {
		return found, err
	}
	found.Parts, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (p store.Part, err error) {
		var after, until int64
		err = row.Scan(&p.First, &after, &until, &p.Data)
		p.After, p.Until = uint64(after), uint64(until)
		return p, err
	})
	if err != nil {
		return found, err
	}
	found.Has = make([][]uint32, len(terms))
	if len(found.Parts) == 0 {
		return found, nil
	}
	var batch pgx.Batch
	before := prefix(id)
	// The planner takes reading a row of terms for cheap: for a word that most passages have it would read all of them.
	batch.Queue("BEGIN READ ONLY")
	batch.Queue("SET LOCAL enable_seqscan = off")
	for i, t := range terms {
		batch.Queue("SELECT array_agg(number ORDER BY number) FROM thresh_passage WHERE terms @@ $1::tsquery",
			"'"+before+t+"'").QueryRow(func(row pgx.Row) error { return row.Scan(&found.Has[i]) })
	}
	batch.Queue("COMMIT")
	return found, s.pool.SendBatch(ctx, &batch).Close()
}
