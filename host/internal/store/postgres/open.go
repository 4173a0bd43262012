package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/thresh-dev/thresh/host/internal/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// migrationLock is the advisory lock for schema changes, the same in all versions of the program.
	migrationLock = 0x746872657368 // "thresh"
	// connections is a host's limit, unless the URL has pool_max_conns. Appends of different sessions share commits in
	// the database if there are enough connections.
	connections = 16
	// connectTimeout is how long connecting may take, unless the URL has connect_timeout.
	connectTimeout = 5 * time.Second
)

// Open connects to a database, postgres://user:password@host:port/database?option=value, and creates missing tables.
// The error is a [*store.Fault], of cause Gone if the database cannot be reached for [store.CallTimeout].
func Open(ctx context.Context, url string) (*Store, error) {
	steps, err := store.Migrations(migrations)
	if err != nil {
		return nil, err
	}
	return open(ctx, url, steps)
}

// open takes the steps as an argument because tests add some.
func open(ctx context.Context, url string, steps []store.Migration) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The error quotes the URL, but not its password.
		return nil, &store.Fault{Cause: store.Broken, Store: "postgres", Err: err}
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = connections
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	// Shown by pg_stat_activity.
	config.ConnConfig.RuntimeParams["application_name"] = "thresh"
	s := &Store{name: nameOf(config.ConnConfig), outbox: newOutbox()}
	// The store outlives the call's context.
	s.alive, s.stop = context.WithCancel(context.Background())
	if s.pool, err = pgxpool.NewWithConfig(s.alive, config); err != nil {
		s.stop()
		return nil, &store.Fault{Cause: store.Broken, Store: s.name, Err: err}
	}
	// A database that is starting is waited for, because hosts often start together with it.
	err = s.retry(ctx, func(ctx context.Context, _ bool) error { return s.pool.Ping(ctx) })
	if err == nil { // takes as long as it takes
		err = s.try(ctx, func(ctx context.Context, _ bool) error { return s.migrate(ctx, steps) })
	}
	if err != nil {
		s.stop()
		s.pool.Close()
		return nil, err
	}
	s.wait.Go(s.tell)
	return s, nil
}

// nameOf names a database in errors, without a password because errors are logged.
func nameOf(c *pgx.ConnConfig) string {
	return fmt.Sprintf("postgres://%s@%s:%d/%s", c.User, c.Host, c.Port, c.Database)
}

// migrate brings the schema up to date in one transaction, whose lock makes hosts that start together wait for the
// first. It can be called again after a connection broke.
func (s *Store) migrate(ctx context.Context, steps []store.Migration) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS thresh_schema (version bigint NOT NULL)"); err != nil {
			return err
		}
		var version int
		err := tx.QueryRow(ctx, "SELECT version FROM thresh_schema").Scan(&version)
		if errors.Is(err, pgx.ErrNoRows) {
			_, err = tx.Exec(ctx, "INSERT INTO thresh_schema (version) VALUES (0)")
		}
		if err != nil {
			return err
		}
		pending, err := store.Pending(steps, version, s.name)
		if err != nil {
			return err
		}
		for _, step := range pending {
			if _, err := tx.Exec(ctx, step.SQL); err != nil {
				return fmt.Errorf("migration to schema %d: %w", step.Version, err)
			}
			if _, err := tx.Exec(ctx, "UPDATE thresh_schema SET version = $1", step.Version); err != nil {
				return err
			}
		}
		return nil
	})
}
