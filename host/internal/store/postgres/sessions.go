package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// headColumns are what scanHead reads; each statement that returns a head ends with them.
const headColumns = `id, owner, name, revision, snapshot, fence, parent_owner, parent_name, forked_at, forked_entries,
	created, used, entries, tokens, bytes`

// scanHead reads headColumns. The id is the session's name in other tables.
func scanHead(row pgx.Row) (id int64, h store.Head, err error) {
	err = row.Scan(&id, &h.Owner, &h.ID, &h.Revision, &h.Snapshot, &h.Fence, &h.Parent.Owner, &h.Parent.ID, &h.ForkedAt,
		&h.ForkedEntries, &h.Created, &h.Used, &h.Entries, &h.Tokens, &h.Bytes)
	return id, h, err
}

// Create implements [store.Sessions]. The fence tells a session that an earlier try created from one that was there.
func (s *Store) Create(ctx context.Context, key store.Key, origin store.Origin) (h store.Head, err error) {
	if err := key.Check(); err != nil {
		return h, err
	}
	// Before the tries, so all use the same one.
	fence := store.NewFence()
	err = s.retry(ctx, func(ctx context.Context, maybe bool) error {
		_, h, err = scanHead(s.pool.QueryRow(ctx, `INSERT INTO thresh_session
				(owner, name, fence, parent_owner, parent_name, forked_at, forked_entries)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING `+headColumns,
			key.Owner, key.ID, int64(fence), origin.Parent.Owner, origin.Parent.ID, int64(origin.ForkedAt),
			origin.ForkedEntries))
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if maybe {
			if _, h, err = s.head(ctx, key); err != nil || h.Fence == fence {
				return err
			}
		}
		return fmt.Errorf("session %q: %w", key.ID, store.ErrExists)
	})
	return h, err
}

func (s *Store) Head(ctx context.Context, key store.Key) (h store.Head, err error) {
	if unspeakable(key) {
		return h, store.NotFound(key)
	}
	err = s.retry(ctx, func(ctx context.Context, _ bool) error {
		_, h, err = s.head(ctx, key)
		return err
	})
	return h, err
}

// head makes one try to read a session's row.
func (s *Store) head(ctx context.Context, key store.Key) (int64, store.Head, error) {
	id, h, err := scanHead(s.pool.QueryRow(ctx,
		"SELECT "+headColumns+" FROM thresh_session WHERE owner = $1 AND name = $2", key.Owner, key.ID))
	if errors.Is(err, pgx.ErrNoRows) {
		err = store.NotFound(key)
	}
	return id, h, err
}

// The parts of an append's one statement. The update locks the session's row; the inserts use what it returned, and so
// insert nothing without a row. All parts see the tables as they were before the statement, which is why the update
// itself counts new bytes.
const (
	appendHead = `WITH head AS (
		UPDATE thresh_session SET revision = revision + cardinality($8::smallint[]),
			snapshot = CASE WHEN $7::int > 0 THEN revision + $7 ELSE snapshot END,
			entries = $5, tokens = $6, used = clock_timestamp(),
			bytes = bytes + $11 %s
		WHERE owner = $1 AND name = $2 AND revision = $3 AND fence = $4
			AND ($12 = '' OR holder = $12 AND held_until > clock_timestamp())
		RETURNING ` + headColumns + `
	), written AS (
		INSERT INTO thresh_record (session, seq, kind, nonce, data)
		SELECT head.id, $3 + r.n, r.kind, $10, r.data
		FROM head, unnest($8::smallint[], $9::bytea[]) WITH ORDINALITY AS r (kind, data, n)
	)`
	newBytes = `+ (SELECT coalesce(sum(length(c.data)), 0) FROM unnest($13::bytea[], $14::bytea[]) AS c (hash, data)
		WHERE NOT EXISTS (SELECT FROM thresh_refer r WHERE r.session = thresh_session.id AND r.hash = c.hash))`
	appendContents = `, kept AS (
		INSERT INTO thresh_content (owner, hash, data)
		SELECT head.owner, c.hash, c.data FROM head, unnest($13::bytea[], $14::bytea[]) AS c (hash, data)
		ON CONFLICT DO NOTHING
	), referred AS (
		INSERT INTO thresh_refer (session, owner, hash)
		SELECT head.id, head.owner, c.hash FROM head, unnest($13::bytea[]) AS c (hash)
		ON CONFLICT DO NOTHING
	)`
	selectHead = ` SELECT ` + headColumns + ` FROM head`
)

// Made once: with the same text every time, a connection keeps its prepared statement.
var (
	appendRecords     = fmt.Sprintf(appendHead, "") + selectHead
	appendWithContent = fmt.Sprintf(appendHead, newBytes) + appendContents + selectHead
)

// Append implements [store.Sessions]. The nonce makes it happen once, however often the connection breaks: an append
// whose answer was lost finds its own record where it would have written.
func (s *Store) Append(ctx context.Context, key store.Key, at store.Position, change store.Change) (
	h store.Head, err error) {
	kinds, data := make([]int16, len(change.Records)), make([][]byte, len(change.Records))
	var size, snapshot int
	for i, r := range change.Records {
		kinds[i], data[i] = int16(r.Kind), store.Blob(r.Bytes())
		size += len(data[i])
		if r.Kind == store.Snapshot {
			// Relative to the revision, which the statement adds; the last one counts.
			snapshot = i + 1
		}
	}
	nonce := rand.Int64()
	statement := appendRecords
	args := []any{key.Owner, key.ID, int64(at.Revision), int64(at.Fence), change.Summary.Entries, change.Summary.Tokens,
		snapshot, kinds, data, nonce, size, at.Holder}
	// Most appends have no contents, and this statement is cheaper to plan and run.
	if len(change.Contents) > 0 {
		statement = appendWithContent
		hashes, contents := distinct(change.Contents)
		args = append(args, hashes, contents)
	}
	err = s.retry(ctx, func(ctx context.Context, maybe bool) error {
		_, h, err = scanHead(s.pool.QueryRow(ctx, statement, args...))
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		// No row: others have written, or an earlier try of this very append has.
		id, now, err := s.head(ctx, key)
		if err != nil {
			return err
		}
		if maybe {
			if mine, err := s.wrote(ctx, id, at.Revision+1, nonce); mine || err != nil {
				// A statement has no half, so the whole append was written. Others may have appended since, which the
				// next append of this host will find out.
				h = now
				h.Revision, h.Fence = at.Revision+uint64(len(kinds)), at.Fence
				return err
			}
		}
		return &store.ConflictError{Key: key, At: at, Now: now}
	})
	if err != nil {
		return store.Head{}, err
	}
	// Even for an append that an earlier try made.
	s.notify(store.Notice{Key: key, Revision: h.Revision})
	return h, nil
}

// wrote says whether the record at seq is of the append with this nonce. An append without records leaves none, but
// moves no revision either, so repeating it succeeds.
func (s *Store) wrote(ctx context.Context, id int64, seq uint64, nonce int64) (mine bool, err error) {
	err = s.pool.QueryRow(ctx,
		"SELECT EXISTS (SELECT FROM thresh_record WHERE session = $1 AND seq = $2 AND nonce = $3)",
		id, int64(seq), nonce).Scan(&mine)
	return mine, err
}

// distinct returns the different contents and their hashes. The same content twice in one statement would be counted
// twice, because its parts do not see each other's inserts.
func distinct(contents [][]byte) (hashes, values [][]byte) {
	seen := map[store.Hash]bool{}
	for _, content := range contents {
		hash := store.HashOf(content)
		if !seen[hash] {
			seen[hash] = true
			hashes, values = append(hashes, hash[:]), append(values, store.Blob(content))
		}
	}
	return hashes, values
}

// Lease implements [store.Sessions]. The old and new lease both end by the database's clock. Taking a lease twice after
// a broken connection does no harm.
func (s *Store) Lease(ctx context.Context, key store.Key, holder string, ttl time.Duration) (h store.Head, err error) {
	err = s.retry(ctx, func(ctx context.Context, _ bool) error {
		_, h, err = scanHead(s.pool.QueryRow(ctx, `UPDATE thresh_session SET fence = fence + (holder <> $3)::int,
				holder = $3, held_until = clock_timestamp() + $4 * interval '1 microsecond'
			WHERE owner = $1 AND name = $2 AND (holder = $3 OR held_until <= clock_timestamp())
			RETURNING `+headColumns, key.Owner, key.ID, holder, ttl.Microseconds()))
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		// Another holder has it, or had it a moment ago; Left is 0 then.
		refused := &store.LeasedError{Key: key}
		var left int64
		// More than a whole lease can be left only if the clock was set back. The holder keeps one from now on, and
		// extends it if it lives.
		err := s.pool.QueryRow(ctx, `WITH shortened AS (
				UPDATE thresh_session SET held_until = clock_timestamp() + $3 * interval '1 microsecond'
				WHERE owner = $1 AND name = $2 AND held_until > clock_timestamp() + $3 * interval '1 microsecond')
			SELECT holder, least($3, greatest(0, extract(epoch FROM held_until - clock_timestamp()) * 1000000))::bigint
			FROM thresh_session WHERE owner = $1 AND name = $2`, key.Owner, key.ID, ttl.Microseconds(),
		).Scan(&refused.Holder, &left)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return store.NotFound(key)
		case err != nil:
			return err
		}
		refused.Left = time.Duration(left) * time.Microsecond
		return refused
	})
	return h, err
}

// Release implements [store.Sessions]. The holder stays in the row and keeps its fence if it is the next one.
func (s *Store) Release(ctx context.Context, key store.Key, holder string) error {
	return s.retry(ctx, func(ctx context.Context, _ bool) error {
		_, err := s.pool.Exec(ctx,
			"UPDATE thresh_session SET held_until = 'epoch' WHERE owner = $1 AND name = $2 AND holder = $3",
			key.Owner, key.ID, holder)
		return err
	})
}
