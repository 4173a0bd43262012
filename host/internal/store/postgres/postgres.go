// Package postgres keeps sessions in a PostgreSQL database, which many hosts can share.
//
// Package backends opens it for a setting sessions.store that begins with postgres://. Start at [Open]. retry.go
// repeats what a broken connection interrupted, and watch.go passes notices between hosts.
//
// An append is one statement: its condition makes concurrent hosts safe, and a turn waits for one round trip. No call
// except a deletion holds a transaction open between statements.
package postgres

import (
	"context"
	"errors"
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
	// outbox is told to other hosts; hub tells the watchers of this one.
	outbox *outbox

	stop  context.CancelFunc // ends calls in progress, and the goroutines of watch.go
	alive context.Context    // ended by stop
	wait  sync.WaitGroup     // for those goroutines
	// listen starts the goroutine that hears of other hosts with the first watcher: most commands have none.
	listen sync.Once
}

var _ store.Store = (*Store)(nil)

// Ephemeral implements [store.Sessions].
func (*Store) Ephemeral() bool { return false }

// Close waits for calls in progress; those that wait for the database to come back get [store.ErrClosed].
func (s *Store) Close() error {
	s.stop()
	s.wait.Wait()
	s.hub.Close()
	s.pool.Close()
	return nil
}

// Check implements [store.Store]. It looks for missing records. It reads the bytes too, to find unreadable pages.
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
	ctx, cancel := store.Within(ctx)
	defer cancel()
	if err := s.pool.Ping(ctx); err != nil {
		return s.fault(ctx, err)
	}
	return s.doubt.Ready(ctx, s)
}

// Size implements [store.Store]. Free is 0, because PostgreSQL reuses the space of deleted rows. Bytes includes indexes
// and out-of-line values.
func (s *Store) Size(ctx context.Context) (size store.Size, err error) {
	err = s.retry(ctx, func(ctx context.Context, _ bool) error {
		return s.pool.QueryRow(ctx, `SELECT count(*), coalesce(sum(revision), 0)::bigint,
			(SELECT sum(pg_total_relation_size(t::regclass))::bigint FROM unnest(ARRAY['thresh_session',
				'thresh_record', 'thresh_content', 'thresh_refer', 'thresh_piece', 'thresh_access', 'thresh_account',
				'thresh_secret']) AS t)
			FROM thresh_session`).Scan(&size.Sessions, &size.Records, &size.Bytes)
	})
	return size, err
}

// unspeakable reports whether the database cannot even be asked for a key.
func unspeakable(key store.Key) bool {
	all := key.Owner + key.ID
	return strings.ContainsRune(all, 0) || !utf8.ValidString(all)
}
