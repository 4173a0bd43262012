package postgres

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// CreateAccess implements [store.Accesses]. A valid token is kept: of two hosts that create one name, the second is
// refused.
func (s *Store) CreateAccess(ctx context.Context, access store.Access) error {
	return s.retry(ctx, func(ctx context.Context, maybe bool) error {
		tag, err := s.pool.Exec(ctx, `INSERT INTO thresh_access (name, hash, limits) VALUES ($1, $2, $3)
			ON CONFLICT (name) DO UPDATE SET hash = $2, limits = $3, created = clock_timestamp(), revoked = NULL
			WHERE thresh_access.revoked IS NOT NULL`, access.Name, store.Blob(access.Hash), store.Blob(access.Limits))
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		// Hosts draw different hashes, so the hash tells whose token it is.
		if maybe { // an earlier try may have created it
			var hash []byte
			err := s.pool.QueryRow(ctx, "SELECT hash FROM thresh_access WHERE name = $1", access.Name).Scan(&hash)
			if err != nil || bytes.Equal(hash, access.Hash) {
				return err
			}
		}
		return fmt.Errorf("access token %q: %w", access.Name, store.ErrExists)
	})
}

func (s *Store) ChangeAccess(ctx context.Context, from, to store.Access) error {
	return s.retry(ctx, func(ctx context.Context, maybe bool) error {
		tag, err := s.pool.Exec(ctx, `UPDATE thresh_access SET hash = $4, limits = $5,
			created = CASE hash WHEN $4 THEN created ELSE clock_timestamp() END
			WHERE name = $1 AND hash = $2 AND limits = $3 AND revoked IS NULL`, from.Name, store.Blob(from.Hash),
			store.Blob(from.Limits), store.Blob(to.Hash), store.Blob(to.Limits))
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		if maybe { // an earlier try may have changed it
			var changed bool
			err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM thresh_access
				WHERE name = $1 AND hash = $2 AND limits = $3 AND revoked IS NULL)`, from.Name, store.Blob(to.Hash),
				store.Blob(to.Limits)).Scan(&changed)
			if err != nil || changed {
				return err
			}
		}
		return fmt.Errorf("access token %q: %w", from.Name, store.ErrNotFound)
	})
}

// RevokeAccess implements [store.Accesses]. Other hosts refuse the token once they read the list again.
func (s *Store) RevokeAccess(ctx context.Context, name string) error {
	return s.retry(ctx, func(ctx context.Context, maybe bool) error {
		tag, err := s.pool.Exec(ctx,
			"UPDATE thresh_access SET revoked = clock_timestamp() WHERE name = $1 AND revoked IS NULL", name)
		if err != nil || tag.RowsAffected() > 0 || maybe { // an earlier try may have revoked it
			return err
		}
		return fmt.Errorf("access token %q: %w", name, store.ErrNotFound)
	})
}

func (s *Store) Accesses(ctx context.Context) (all []store.Access, err error) {
	err = s.retry(ctx, func(ctx context.Context, _ bool) error {
		// Revoked tokens too: their sessions still belong to their names.
		rows, err := s.pool.Query(ctx, "SELECT name, hash, created, revoked, limits FROM thresh_access ORDER BY name")
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (a store.Access, err error) {
			var revoked *time.Time
			if err = row.Scan(&a.Name, &a.Hash, &a.Created, &revoked, &a.Limits); revoked != nil {
				a.Revoked = *revoked
			}
			return a, err
		})
		return err
	})
	return all, err
}

// Account implements [store.Accesses]. If the connection breaks, the caller is told that it may have been added.
func (s *Store) Account(ctx context.Context, name, day string, add store.Used) (sum store.Used, err error) {
	// Once: a repeated addition would count twice.
	err = s.once(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `INSERT INTO thresh_account AS a (name, day, spent, saved, requests, whole, sent)
			VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (name, day) DO UPDATE SET spent = a.spent + $3, saved = a.saved + $4,
				requests = a.requests + $5, whole = a.whole + $6, sent = a.sent + $7
			RETURNING spent, saved, requests, whole, sent`,
			name, day, add.Spent, add.Saved, add.Requests, add.Whole, add.Sent).
			Scan(&sum.Spent, &sum.Saved, &sum.Requests, &sum.Whole, &sum.Sent)
	})
	return sum, err
}

// Accounts implements [store.Accesses].
func (s *Store) Accounts(ctx context.Context, since string) (all []store.Account, err error) {
	err = s.retry(ctx, func(ctx context.Context, _ bool) error {
		rows, err := s.pool.Query(ctx, `SELECT name, day, spent, saved, requests, whole, sent FROM thresh_account
			WHERE day >= $1 ORDER BY day, name`, since)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (a store.Account, err error) {
			err = row.Scan(&a.Name, &a.Day, &a.Spent, &a.Saved, &a.Requests, &a.Whole, &a.Sent)
			return a, err
		})
		return err
	})
	return all, err
}

// Usage implements [store.Accesses]. It adds up the owner's sessions: to keep a sum, all appends of an owner would wait
// for each other.
func (s *Store) Usage(ctx context.Context, owner string) (u store.Usage, err error) {
	err = s.retry(ctx, func(ctx context.Context, _ bool) error {
		return s.pool.QueryRow(ctx,
			"SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM thresh_session WHERE owner = $1",
			owner).Scan(&u.Sessions, &u.Bytes)
	})
	return u, err
}

// Secret implements [store.Store]. One statement makes and reads it, so two hosts get the same.
func (s *Store) Secret(ctx context.Context, name string) (secret []byte, err error) {
	err = s.retry(ctx, func(ctx context.Context, _ bool) error {
		return s.pool.QueryRow(ctx, `INSERT INTO thresh_secret AS s (name, value) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET value = s.value RETURNING value`, name, store.NewSecret()).Scan(&secret)
	})
	return secret, err
}
