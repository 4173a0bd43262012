package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// lockTimeout is how long a statement waits for another process's lock; all writing calls of this process wait
// meanwhile. A variable for tests.
var lockTimeout = 5 * time.Second

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// applicationID marks our files in their header, to tell them from another program's.
	applicationID = 0x74687273 // "thrs"
	// readers is how many connections read at once. More would cost memory and files, and sessions are read when they
	// are opened, not in every turn.
	readers = 4
)

// Open opens the store in the file path, and creates the file and its directory if they are missing, readable only by
// their owner. The error is a [*store.Fault], such as Foreign for another program's file and Denied for one that cannot
// be opened.
func Open(ctx context.Context, path string) (*Store, error) {
	steps, err := store.Migrations(migrations)
	if err != nil {
		return nil, err
	}
	return open(ctx, path, steps)
}

// open takes the steps as an argument because tests add some.
func open(ctx context.Context, path string, steps []store.Migration) (*Store, error) {
	s := &Store{path: path, jobs: make(chan *job, maxBatch), stop: make(chan struct{}), stopped: make(chan struct{})}
	if err := s.create(); err != nil {
		return nil, s.fault(ctx, err)
	}
	// The writer comes first: readers cannot read a schema that is not there.
	w := &writer{Store: s, freed: true}
	if err := w.connect(ctx); err != nil {
		return nil, s.fault(ctx, err)
	}
	if err := migrate(ctx, w.conn, path, steps); err != nil {
		w.disconnect()
		return nil, s.fault(ctx, err)
	}
	// Readers do not wait for the writer, and a commit is one write to the disk. The file remembers it: it is set only
	// once the file is known to be ours.
	_, err := w.conn.ExecContext(ctx, "PRAGMA journal_mode=WAL")
	if err == nil {
		err = w.prepare(ctx)
	}
	if err == nil {
		err = s.displaced() // since it was created
	}
	if err != nil {
		w.disconnect()
		return nil, s.fault(ctx, err)
	}
	// query_only makes writing through this pool an error.
	read, err := sql.Open("sqlite", dsn(path, "query_only(1)"))
	if err == nil {
		read.SetMaxOpenConns(readers)
		read.SetMaxIdleConns(readers)
		s.read = read
		err = s.queries.prepare(ctx, read)
	}
	if err != nil {
		w.disconnect()
		if read != nil {
			_ = read.Close()
		}
		return nil, s.fault(ctx, err)
	}
	go w.run()
	return s, nil
}

// create makes the file before SQLite does, which would let everyone read it. SQLite gives its log and index the file's
// permissions. An existing file keeps its own.
func (s *Store) create() error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	s.file, err = f.Stat()
	if err == nil && s.file.Size() == 0 {
		err = atomicfile.Adopt(f)
	}
	return errors.Join(err, f.Close())
}

// dsn names the file and what each connection to it sets. busy_timeout comes first, because the later ones may wait for
// a lock.
func dsn(path string, more ...string) string {
	pragmas := append([]string{
		fmt.Sprintf("busy_timeout(%d)", lockTimeout.Milliseconds()),
		"synchronous(FULL)", // a commit is waited for: what is acknowledged survives a loss of power
		"foreign_keys(1)",   // for each connection: SQLite does not keep them otherwise
		"auto_vacuum(2)",    // of a new file: incremental, see shrink.go
	}, more...)
	// rw: no connection creates the file again if it is missing.
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" +
		url.Values{"_pragma": pragmas, "mode": {"rw"}}.Encode()
}

// migrate brings the schema up to date. The transaction's lock makes other processes wait, which then find nothing left
// to do.
func migrate(ctx context.Context, conn *sql.Conn, path string, steps []store.Migration) (err error) {
	// IMMEDIATE takes the lock at once: a transaction that read the version first could find it outdated when it
	// writes.
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	// All steps or none: SQLite rolls back schema changes too.
	defer func() {
		if err != nil {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	var version, application, tables int
	row := conn.QueryRowContext(ctx, `SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version, pragma_application_id`)
	if err := row.Scan(&version, &application, &tables); err != nil {
		return err
	}
	if application != applicationID && tables > 0 {
		return &store.Fault{Cause: store.Foreign, Store: path,
			Err: fmt.Errorf("its application id is %#x, that of thresh %#x", application, applicationID)}
	}
	pending, err := store.Pending(steps, version, path)
	if err != nil {
		return err
	}
	for _, step := range pending {
		if _, err := conn.ExecContext(ctx, step.SQL); err != nil {
			return fmt.Errorf("migration to schema %d: %w", step.Version, err)
		}
		// Both are in the file's header, and so part of the transaction.
		mark := fmt.Sprintf("PRAGMA user_version=%d; PRAGMA application_id=%d", step.Version, applicationID)
		if _, err := conn.ExecContext(ctx, mark); err != nil {
			return err
		}
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}
