package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// background is the context of statements in the writer's transactions: a batch has jobs of several callers, whose
// contexts must not end it.
var background = context.Background()

func (s *Store) Create(ctx context.Context, key store.Key, origin store.Origin) (store.Head, error) {
	if err := key.Check(); err != nil {
		return store.Head{}, err
	}
	return write(ctx, s, func(st *statements, _ *job) (store.Head, error) {
		_, h, err := scanHead(st.create.QueryRowContext(background, key.Owner, key.ID, int64(store.NewFence()),
			origin.Parent.Owner, origin.Parent.ID, int64(origin.ForkedAt), origin.ForkedEntries,
			time.Now().UnixMicro()))
		if errors.Is(err, sql.ErrNoRows) { // the insert met a session of this name, and did nothing
			err = fmt.Errorf("session %q: %w", key.ID, store.ErrExists)
		}
		return h, err
	})
}

// Head implements [store.Sessions]. It never waits for the writer.
func (s *Store) Head(ctx context.Context, key store.Key) (store.Head, error) {
	_, h, err := s.find(ctx, key)
	return h, err
}

// find reads a session's head, and the id that tables name it by.
func (s *Store) find(ctx context.Context, key store.Key) (int64, store.Head, error) {
	if s.closed() {
		return 0, store.Head{}, store.ErrClosed
	}
	if err := s.displaced(); err != nil {
		return 0, store.Head{}, err
	}
	id, h, err := scanHead(s.queries.head.QueryRowContext(ctx, key.Owner, key.ID))
	if errors.Is(err, sql.ErrNoRows) {
		err = store.NotFound(key)
	}
	return id, h, s.fault(ctx, err)
}

// Append implements [store.Sessions]. The conditional update of the session's row comes first: if it finds no row,
// nothing has changed, and the transaction goes on with others' appends.
func (s *Store) Append(ctx context.Context, key store.Key, at store.Position, change store.Change) (
	store.Head, error) {
	var size, snapshot int
	data := make([][]byte, len(change.Records))
	for i, r := range change.Records {
		data[i] = store.Blob(r.Bytes())
		// The number of the last snapshot, relative to the revision, which only the statement knows for certain.
		size += len(data[i])
		if r.Kind == store.Snapshot {
			snapshot = i + 1
		}
	}
	hashes := make([]store.Hash, len(change.Contents))
	for i, content := range change.Contents {
		hashes[i] = store.HashOf(content) // here, not in the writer, which everyone waits for
	}
	return write(ctx, s, func(st *statements, j *job) (store.Head, error) {
		id, h, err := scanHead(st.append.QueryRowContext(background, key.Owner, key.ID, len(change.Records), snapshot,
			change.Summary.Entries, change.Summary.Tokens, size, time.Now().UnixMicro(),
			int64(at.Revision), int64(at.Fence), at.Holder))
		if errors.Is(err, sql.ErrNoRows) {
			return h, st.refuse(key, at)
		}
		if err != nil {
			return h, err
		}
		// The update's condition ensures that the session is at this revision.
		seq := int64(at.Revision)
		for i, r := range change.Records {
			seq++
			if _, err := st.record.ExecContext(background, id, seq, int(r.Kind), data[i]); err != nil {
				return h, err
			}
		}
		for i, content := range change.Contents {
			if err := st.keep(id, &h, hashes[i], content); err != nil {
				return h, err
			}
		}
		j.notice = store.Notice{Key: key, Revision: h.Revision}
		return h, nil
	})
}

// refuse says why an append changed nothing. It reads in the same transaction, and so reports where the session was
// then.
func (st *statements) refuse(key store.Key, at store.Position) error {
	_, now, err := scanHead(st.head.QueryRowContext(background, key.Owner, key.ID))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return store.NotFound(key)
	case err != nil:
		return err
	}
	return &store.ConflictError{Key: key, At: at, Now: now}
}

// keep makes a session refer to a content, and adds the content if its owner lacks it. The head was read before its
// contents were counted, so it grows with the row.
func (st *statements) keep(id int64, h *store.Head, hash store.Hash, content []byte) error {
	if _, err := st.content.ExecContext(background, h.Owner, hash[:], store.Blob(content)); err != nil {
		return err
	}
	result, err := st.refer.ExecContext(background, id, h.Owner, hash[:])
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return err // the session refers to it already
	}
	h.Bytes += int64(len(content))
	_, err = st.grow.ExecContext(background, id, len(content))
	return err
}

// Lease implements [store.Sessions]. The clock is the machine's, which all processes on the file share.
func (s *Store) Lease(ctx context.Context, key store.Key, holder string, ttl time.Duration) (store.Head, error) {
	// A refusal is not the job's error, because what the job wrote must be committed.
	type answer struct {
		head    store.Head
		refused *store.LeasedError
	}
	got, err := write(ctx, s, func(st *statements, _ *job) (a answer, err error) {
		var last string
		var until int64
		switch err := st.holder.QueryRowContext(background, key.Owner, key.ID).Scan(&last, &until); {
		case errors.Is(err, sql.ErrNoRows):
			return a, store.NotFound(key)
		case err != nil:
			return a, err
		}
		// Taken in the writer, after any wait for it.
		now := time.Now().UnixMicro()
		if last != holder && until > now {
			// More than a whole lease can be left only if the clock was set back. The holder keeps one from now on, and
			// extends it if it lives.
			if most := now + ttl.Microseconds(); until > most {
				until = most
				if _, err := st.shorten.ExecContext(background, key.Owner, key.ID, until); err != nil {
					return a, err
				}
			}
			a.refused = &store.LeasedError{Key: key, Holder: last, Left: time.Duration(until-now) * time.Microsecond}
			return a, nil
		}
		_, a.head, err = scanHead(st.lease.QueryRowContext(background, key.Owner, key.ID, holder, now+ttl.Microseconds()))
		return a, err
	})
	if got.refused != nil {
		return store.Head{}, got.refused
	}
	return got.head, err
}

// Release implements [store.Sessions]. The holder stays in the row and keeps its fence if it is the next one.
func (s *Store) Release(ctx context.Context, key store.Key, holder string) error {
	return s.change(ctx, func(st *statements, _ *job) error {
		_, err := st.release.ExecContext(background, key.Owner, key.ID, holder)
		return err
	})
}

// Delete implements [store.Sessions]. A time far ahead makes the condition on last use always hold.
func (s *Store) Delete(ctx context.Context, key store.Key) error {
	return s.delete(ctx, key, time.Now().AddDate(1000, 0, 0))
}

// delete deletes a session unless it was used at or after a time, in one transaction. References are deleted before
// contents and the session, because foreign keys are enforced.
func (s *Store) delete(ctx context.Context, key store.Key, usedBefore time.Time) error {
	return s.change(ctx, func(st *statements, j *job) error {
		id, h, err := scanHead(st.head.QueryRowContext(background, key.Owner, key.ID))
		if errors.Is(err, sql.ErrNoRows) || err == nil && !h.Used.Before(usedBefore) {
			return store.NotFound(key)
		}
		if err != nil {
			return err
		}
		var contents string
		if err := st.referred.QueryRowContext(background, id).Scan(&contents); err != nil {
			return err
		}
		for _, step := range []struct {
			statement *sql.Stmt
			args      []any
		}{
			{st.deletePieces, []any{id}},
			{st.deleteRecords, []any{id}},
			{st.deleteRefers, []any{id}},
			{st.deleteContents, []any{contents}},
			{st.deleteSession, []any{id}},
		} {
			if _, err := step.statement.ExecContext(background, step.args...); err != nil {
				return err
			}
		}
		j.notice, j.frees = store.Notice{Key: key}, true
		return nil
	})
}

// Expire implements [store.Sessions]. Each session is a call of its own, so others' calls come in between.
func (s *Store) Expire(ctx context.Context, unused time.Duration) (n int, err error) {
	if s.closed() {
		return 0, store.ErrClosed
	}
	before := time.Now().Add(-unused)
	keys, err := s.unused(ctx, before)
	if err != nil {
		return 0, s.fault(ctx, err)
	}
	return store.DeleteEach(keys, func(key store.Key) error { return s.delete(ctx, key, before) })
}

// unused lists sessions that were not used since a time. It reads the whole table: an index would make every append
// slower, and this runs rarely.
func (s *Store) unused(ctx context.Context, before time.Time) (keys []store.Key, err error) {
	rows, err := s.queries.unused.QueryContext(ctx, before.UnixMicro())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var key store.Key
		if err := rows.Scan(&key.Owner, &key.ID); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, rows.Err()
}
