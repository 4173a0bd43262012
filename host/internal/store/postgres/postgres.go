// Package postgres keeps sessions in a PostgreSQL database, which many hosts can share.
//
// Package backends opens it for a setting sessions.store that begins with postgres://. Start at [Open]. open.go
// connects and brings the schema up to date, retry.go repeats what a broken connection has interrupted, sessions.go,
// read.go and access.go have the statements, watch.go passes notices between hosts, faults.go says what an error of the
// database means.
//
// An append is one statement: its condition is what makes concurrent hosts safe, and its one round trip is what a turn
// waits for. No call but a deletion holds a transaction open between statements.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Store is a database with sessions.
type Store struct {
	name  string // the database, for errors, without a password
	pool  *pgxpool.Pool
	hub   store.Hub
	doubt store.Doubt
	// news is told to the other hosts; hub tells the watchers of this one.
	news *news

	stop  context.CancelFunc // ends calls in progress, and the goroutines of watch.go
	alive context.Context    // ended by stop
	wait  sync.WaitGroup     // for those goroutines
	// listen starts the goroutine that hears of other hosts, with the first watcher: most commands have none.
	listen sync.Once
}

var _ store.Store = (*Store)(nil)

// Close waits for calls in progress; those that wait for the database to come back get [store.ErrClosed]. A second
// Close does nothing more.
func (s *Store) Close() error {
	s.stop()
	s.wait.Wait()
	s.hub.Close()
	s.pool.Close()
	return nil
}

// Vacuum implements [store.Store]. PostgreSQL keeps the space for what comes next, and does this by itself as well.
// ANALYZE is for the planner, which otherwise knows a new table as an empty one.
func (s *Store) Vacuum(ctx context.Context) error {
	return s.try(ctx, func(ctx context.Context, _ bool) error {
		_, err := s.pool.Exec(ctx, "VACUUM (ANALYZE) thresh_session, thresh_record, thresh_refer, thresh_content")
		return err
	})
}

// Check implements [store.Store]. It reads all logs and looks for records that are missing. The bytes are read too, so
// that a page that cannot be read is found.
func (s *Store) Check(ctx context.Context) error {
	return s.try(ctx, func(ctx context.Context, _ bool) error {
		var found string
		err := s.pool.QueryRow(ctx, `SELECT coalesce(string_agg(format('session %s has %s records, not %s', name, n,
			revision), '; '), '') FROM (SELECT name, revision, (SELECT count(data) FROM thresh_record r
			WHERE r.session = s.id) AS n FROM thresh_session s) AS counted WHERE n <> revision`).Scan(&found)
		if err == nil && found != "" {
			err = &store.Fault{Cause: store.Corrupt, Store: s.name, Err: errors.New(found)}
		}
		return err
	})
}

func (s *Store) Ready(ctx context.Context) error {
	if s.alive.Err() != nil {
		return store.ErrClosed
	}
	if err := s.pool.Ping(ctx); err != nil {
		return s.fault(ctx, err)
	}
	return s.doubt.Ready(ctx, s)
}

// Size implements [store.Store]. Free is 0: PostgreSQL uses the space of deleted rows itself, and does not return it.
// Bytes includes indexes and what PostgreSQL stores apart from the rows.
func (s *Store) Size(ctx context.Context) (size store.Size, err error) {
	err = s.retry(ctx, func(ctx context.Context, _ bool) error {
		return s.pool.QueryRow(ctx, `SELECT count(*), coalesce(sum(revision), 0)::bigint,
			(SELECT sum(pg_total_relation_size(t::regclass))::bigint FROM unnest(ARRAY['thresh_session',
				'thresh_record', 'thresh_content', 'thresh_refer', 'thresh_access', 'thresh_spent',
				'thresh_secret']) AS t)
			FROM thresh_session`).Scan(&size.Sessions, &size.Records, &size.Bytes)
	})
	return size, err
}

// notFound returns an error for errors.Is; it names the id and not the owner, who is the one that asks.
func notFound(key store.Key) error { return fmt.Errorf("session %q: %w", key.ID, store.ErrNotFound) }

// unspeakable reports whether a key has what the database cannot even be asked for.
func unspeakable(key store.Key) bool {
	all := key.Owner + key.ID
	return strings.ContainsRune(all, 0) || !utf8.ValidString(all)
}
