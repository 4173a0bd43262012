package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// background is the context of statements in the writer's transactions: see [writer.run]. A batch has jobs of several
// callers, whose contexts must not end it.
var background = context.Background()

// notFound returns an error for errors.Is. It names the id, not the owner, who is the one that asks.
func notFound(key store.Key) error { return fmt.Errorf("session %q: %w", key.ID, store.ErrNotFound) }

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

// Head implements [store.Sessions]. It is read outside of the writer, and sees what was committed before. It waits for
// no writer: in WAL mode readers and the writer do not block each other.
func (s *Store) Head(ctx context.Context, key store.Key) (store.Head, error) {
	_, h, err := s.find(ctx, key)
	return h, err
}

// find reads the head of a session, and the id that tables name it by.
func (s *Store) find(ctx context.Context, key store.Key) (int64, store.Head, error) {
	if s.closed() {
		return 0, store.Head{}, store.ErrClosed
	}
	if err := s.displaced(); err != nil {
		return 0, store.Head{}, err
	}
	id, h, err := scanHead(s.queries.head.QueryRowContext(ctx, key.Owner, key.ID))
	if errors.Is(err, sql.ErrNoRows) {
		err = notFound(key)
	}
	return id, h, s.fault(ctx, err)
}

// Append implements [store.Sessions]. The update of the session's row comes first, with the condition. If it finds no
// row, nothing has been changed, and the transaction goes on with the appends of others.
func (s *Store) Append(ctx context.Context, key store.Key, at store.Position, change store.Change) (
	store.Head, error) {
	// In bytes, as the store counts a session's size.
	var size, snapshot int
	data := make([][]byte, len(change.Records))
	for i, r := range change.Records {
		data[i] = blob(r.Bytes())
		// The last snapshot of the change counts; its number is relative to the revision, which only the statement
		// knows for certain.
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
		// The condition of the update has made sure that the session is at this revision.
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
		// Sent only after the commit.
		j.notice = store.Notice{Key: key, Revision: h.Revision}
		return h, nil
	})
}

// refuse says why an append changed nothing. It reads in the same transaction: what it reports is where the session was
// when the append was refused.
func (st *statements) refuse(key store.Key, at store.Position) error {
	_, now, err := scanHead(st.head.QueryRowContext(background, key.Owner, key.ID))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return notFound(key)
	case err != nil:
		return err
	}
	return &store.ConflictError{Key: key, At: at, Now: now}
}

// keep makes a session refer to a content, and adds the content if its owner has not got it. The head is kept in step
// with the row, because it was read before its contents were counted. A content that the session refers to already does
// not make it larger.
func (st *statements) keep(id int64, h *store.Head, hash store.Hash, content []byte) error {
	if _, err := st.content.ExecContext(background, h.Owner, hash[:], blob(content)); err != nil {
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

// blob is data as a value that is never NULL. SQLite's driver writes nil as NULL.
func blob(data []byte) []byte {
	if data == nil {
		// The columns are NOT NULL, and an empty record is allowed.
		return []byte{}
	}
	return data
}

// Lease implements [store.Sessions]. The clock is the machine's, which all processes on the file share. The fence grows
// with the holder, in the same statement.
func (s *Store) Lease(ctx context.Context, key store.Key, holder string, ttl time.Duration) (store.Head, error) {
	// A refusal is not the job's error: what the job wrote has to be committed.
	type answer struct {
		head    store.Head
		refused *store.LeasedError
	}
	got, err := write(ctx, s, func(st *statements, _ *job) (a answer, err error) {
		var last string
		var until int64
		switch err := st.holder.QueryRowContext(background, key.Owner, key.ID).Scan(&last, &until); {
		case errors.Is(err, sql.ErrNoRows):
			return a, notFound(key)
		case err != nil:
			return a, err
		}
		// Time is taken in the writer, after any wait for it: a caller's own would be out of date.
		now := time.Now().UnixMicro()
		// The last holder may always extend. Another one needs a lease that has ended.
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

// Release implements [store.Sessions]. The holder stays in the row, so that it keeps its fence if it is the next one.
func (s *Store) Release(ctx context.Context, key store.Key, holder string) error {
	return s.change(ctx, func(st *statements, _ *job) error {
		// No row is changed if another has the lease, which is no error.
		_, err := st.release.ExecContext(background, key.Owner, key.ID, holder)
		return err
	})
}

// Delete implements [store.Sessions]. A point in time far ahead makes the condition on its use hold always.
func (s *Store) Delete(ctx context.Context, key store.Key) error {
	return s.delete(ctx, key, time.Now().AddDate(1000, 0, 0))
}

// delete deletes a session unless it was used at or after a time. The steps are one transaction, so that no reader sees
// a session without its records. References go before contents and before the session, as foreign keys are enforced.
func (s *Store) delete(ctx context.Context, key store.Key, usedBefore time.Time) error {
	return s.change(ctx, func(st *statements, j *job) error {
		id, h, err := scanHead(st.head.QueryRowContext(background, key.Owner, key.ID))
		if errors.Is(err, sql.ErrNoRows) || err == nil && !h.Used.Before(usedBefore) {
			return notFound(key)
		}
		if err != nil {
			return err
		}
		// What the session refers to has to be known before the references go.
		var contents string
		if err := st.referred.QueryRowContext(background, id).Scan(&contents); err != nil {
			return err
		}
		for _, step := range []struct {
			statement *sql.Stmt
			args      []any
		}{
			{st.deleteRecords, []any{id}},
			{st.deleteRefers, []any{id}},
			{st.deleteContents, []any{contents}},
			{st.deleteSession, []any{id}},
		} {
			if _, err := step.statement.ExecContext(background, step.args...); err != nil {
				return err
			}
		}
		// Revision 0 tells watchers of the deletion.
		j.notice = store.Notice{Key: key}
		return nil
	})
}

// Expire implements [store.Sessions]. Each session is a call of its own, so that those of others come in between.
// Sessions that were used or deleted since the list was made are skipped. n counts those that were deleted before an
// error too. Another process may do the same at the same time.
func (s *Store) Expire(ctx context.Context, unused time.Duration) (n int, err error) {
	if s.closed() {
		return 0, store.ErrClosed
	}
	before := time.Now().Add(-unused)
	keys, err := s.unused(ctx, before)
	if err != nil {
		return 0, s.fault(ctx, err)
	}
	for _, key := range keys {
		// The time is checked again in the transaction: the session may have been used since the list was made.
		err := s.delete(ctx, key, before)
		switch {
		case err == nil:
			n++
		case !errors.Is(err, store.ErrNotFound):
			return n, err
		}
	}
	return n, nil
}

// unused lists sessions that were not used since a time. It reads the whole table: an index would make each append
// dearer, and this is done once in a while.
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
