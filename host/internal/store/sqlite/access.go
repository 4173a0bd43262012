package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// CreateAccess implements [store.Accesses]. A token that is valid stays as it is.
func (s *Store) CreateAccess(ctx context.Context, access store.Access) error {
	return s.change(ctx, func(st *statements, _ *job) error {
		return changeAccess(store.ErrExists, st.createAccess, access.Name, blob(access.Hash),
			// The time of creation is that of the host, which is the only clock there is on the machine.
			time.Now().UnixMicro(), blob(access.Limits))
	})
}

// RevokeAccess implements [store.Accesses]. The row stays, so that the sessions and the spending of the name are kept
// for a token that replaces it.
func (s *Store) RevokeAccess(ctx context.Context, name string) error {
	return s.change(ctx, func(st *statements, _ *job) error {
		return changeAccess(store.ErrNotFound, st.revoke, name, time.Now().UnixMicro())
	})
}

// changeAccess runs a statement that changes one token, or none if the token is not as the statement wants it. Whether
// it is as wanted is the statement's own condition: a look before the change could be out of date, as other processes
// write too.
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

// Accesses implements [store.Accesses]. The list is small and read at once.
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
	// Revoked tokens are returned too: their sessions still belong to their names.
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

// Spend implements [store.Accesses]. The sum is made by the statement, so that no host overwrites another's. A context
// that ends after the writer has taken the job does not withdraw it: the sum is the one that was committed.
func (s *Store) Spend(ctx context.Context, name, day string, amount int64) (int64, error) {
	return write(ctx, s, func(st *statements, _ *job) (sum int64, err error) {
		err = st.spend.QueryRowContext(background, name, day, amount).Scan(&sum)
		return sum, err
	})
}

// Usage implements [store.Accesses]. It adds up the owner's sessions: there are few enough of them in a file.
func (s *Store) Usage(ctx context.Context, owner string) (u store.Usage, err error) {
	if s.closed() {
		return u, store.ErrClosed
	}
	err = s.queries.usage.QueryRowContext(ctx, owner).Scan(&u.Sessions, &u.Bytes)
	return u, s.fault(ctx, err)
}

// Secret implements [store.Store]. One statement makes it and reads it, so that two processes get the same.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	return write(ctx, s, func(st *statements, _ *job) (secret []byte, err error) {
		err = st.secret.QueryRowContext(background, name, store.NewSecret()).Scan(&secret)
		return secret, err
	})
}
