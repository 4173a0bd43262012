package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// CreateAccess implements [store.Accesses]. A valid token is kept.
func (s *Store) CreateAccess(ctx context.Context, access store.Access) error {
	return s.change(ctx, func(st *statements, _ *job) error {
		return changeAccess(store.ErrExists, st.createAccess, access.Name, store.Blob(access.Hash),
			time.Now().UnixMicro(), store.Blob(access.Limits))
	})
}

func (s *Store) ChangeAccess(ctx context.Context, from, to store.Access) error {
	return s.change(ctx, func(st *statements, _ *job) error {
		return changeAccess(store.ErrNotFound, st.changeAccess, from.Name, store.Blob(from.Hash), store.Blob(from.Limits),
			store.Blob(to.Hash), store.Blob(to.Limits), time.Now().UnixMicro())
	})
}

// RevokeAccess implements [store.Accesses]. It keeps the row, and so the name's sessions and spending, for a token that
// replaces it.
func (s *Store) RevokeAccess(ctx context.Context, name string) error {
	return s.change(ctx, func(st *statements, _ *job) error {
		return changeAccess(store.ErrNotFound, st.revoke, name, time.Now().UnixMicro())
	})
}

// changeAccess runs a statement that changes one token, or none. The statement has the condition itself: other
// processes write too, so a look before it could be out of date.
func changeAccess(otherwise error, statement *sql.Stmt, name string, args ...any) error {
	result, err := statement.ExecContext(background, append([]any{name}, args...)...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return fmt.Errorf("access token %q: %w", name, otherwise)
}

func (s *Store) Accesses(ctx context.Context) ([]store.Access, error) {
	if s.closed() {
		return nil, store.ErrClosed
	}
	rows, err := s.queries.accesses.QueryContext(ctx)
	if err != nil {
		return nil, s.fault(ctx, err)
	}
	defer rows.Close()
	var all []store.Access
	// Revoked tokens too: their sessions still belong to their names.
	for rows.Next() {
		var a store.Access
		var created, revoked int64
		if err := rows.Scan(&a.Name, &a.Hash, &created, &revoked, &a.Limits); err != nil {
			return nil, s.fault(ctx, err)
		}
		a.Created, a.Revoked = fromMicros(created), fromMicros(revoked)
		all = append(all, a)
	}
	return all, s.fault(ctx, rows.Err())
}

// Account implements [store.Accesses]. The statement adds, so no host overwrites another's sums. If ctx ends after the
// writer has taken the job, the sums are those that were committed.
func (s *Store) Account(ctx context.Context, name, day string, add store.Used) (store.Used, error) {
	return write(ctx, s, func(st *statements, _ *job) (sum store.Used, err error) {
		err = st.account.QueryRowContext(background, name, day, add.Spent, add.Saved, add.Requests, add.Whole, add.Sent).
			Scan(&sum.Spent, &sum.Saved, &sum.Requests, &sum.Whole, &sum.Sent)
		return sum, err
	})
}

// Accounts implements [store.Accesses].
func (s *Store) Accounts(ctx context.Context, since string) (all []store.Account, err error) {
	if s.closed() {
		return nil, store.ErrClosed
	}
	rows, err := s.queries.accounts.QueryContext(ctx, since)
	if err != nil {
		return nil, s.fault(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var a store.Account
		if err := rows.Scan(&a.Name, &a.Day, &a.Spent, &a.Saved, &a.Requests, &a.Whole, &a.Sent); err != nil {
			return nil, s.fault(ctx, err)
		}
		all = append(all, a)
	}
	return all, s.fault(ctx, rows.Err())
}

// Usage implements [store.Accesses]. It adds up the owner's sessions: a file has few enough.
func (s *Store) Usage(ctx context.Context, owner string) (u store.Usage, err error) {
	if s.closed() {
		return u, store.ErrClosed
	}
	err = s.queries.usage.QueryRowContext(ctx, owner).Scan(&u.Sessions, &u.Bytes)
	return u, s.fault(ctx, err)
}

// Secret implements [store.Store]. One statement makes and reads it, so two processes get the same.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	return write(ctx, s, func(st *statements, _ *job) (secret []byte, err error) {
		err = st.secret.QueryRowContext(background, name, store.NewSecret()).Scan(&secret)
		return secret, err
	})
}
