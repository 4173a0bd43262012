// Package sqlite keeps sessions in one file, with SQLite.
//
// It is for programs on one machine: package backends opens it for the setting sessions.store. Start at [Open]; all
// writes go through the goroutine in writer.go.
//
// Acknowledged writes survive a loss of power: the file is in WAL mode, and each commit waits for the disk
// (synchronous=FULL). Calls share that wait: the writer takes all waiting calls into one transaction.
//
// Several processes may use a file. They take turns in writing, and each respects the revisions and fences that the
// others have written.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Store is a file with sessions.
type Store struct {
	// path is also the store's name in errors.
	path string
	// file is the opened one, for [Store.displaced].
	file os.FileInfo
	// log is the write-ahead log next to it, nil while the writer is not connected. cut is set if it was found cut.
	log   atomic.Pointer[os.FileInfo]
	cut   atomic.Bool
	doubt store.Doubt
	hub   store.Hub

	read    *sql.DB
	queries queries

	jobs    chan *job
	stop    chan struct{} // closed when the store is
	stopped chan struct{} // closed when the writer has ended
	// once makes a second Close wait for the first.
	once sync.Once
}

var _ store.Store = (*Store)(nil)

func (s *Store) closed() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// Ephemeral implements [store.Sessions].
func (*Store) Ephemeral() bool { return false }

// Close waits for the transaction in progress. Calls that still wait for the writer get [store.ErrClosed].
func (s *Store) Close() error {
	// The writer first: its connection is the last that may write, and moves the log into the file when it closes.
	var err error
	s.once.Do(func() {
		close(s.stop)
		<-s.stopped
		s.hub.Close()
		if !s.replaced() {
			err = s.read.Close()
		}
	})
	return err
}

// Watch implements [store.Store]. Other processes' writes are found by polling and told as a zero notice.
func (s *Store) Watch(ctx context.Context, changed func(store.Notice)) error {
	if s.closed() {
		return store.ErrClosed
	}
	return s.hub.Watch(ctx, changed)
}

// Check implements [store.Store]. It also counts each log's records, because to SQLite a missing record is no damage.
// It reads through the pool, so writes go on.
func (s *Store) Check(ctx context.Context) error {
	if s.closed() {
		return store.ErrClosed
	}
	found, err := s.lines(ctx, "PRAGMA integrity_check")
	if len(found) > 0 {
		found[0] = strings.TrimPrefix(found[0], "*** in database main ***\n")
	}
	if err == nil && slices.Equal(found, []string{"ok"}) {
		found, err = s.lines(ctx, `SELECT format('session %s has %d records, not %d', name, n, revision) FROM
			(SELECT name, revision, (SELECT count(*) FROM record WHERE record.session = session.id) AS n FROM session)
			WHERE n <> revision`)
	}
	if err == nil && len(found) > 0 {
		err = &store.Fault{Cause: store.Corrupt, Store: s.path, Err: errors.New(strings.Join(found, "; "))}
	}
	return s.fault(ctx, err)
}

func (s *Store) lines(ctx context.Context, query string) (lines []string, err error) {
	rows, err := s.read.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, rows.Err()
}

// Size implements [store.Store]. Bytes is the size of the file and its write-ahead log.
func (s *Store) Size(ctx context.Context) (size store.Size, err error) {
	if s.closed() {
		return size, store.ErrClosed
	}
	// Sessions' revisions count the records, which are far more rows.
	const query = `SELECT (SELECT count(*) FROM session), (SELECT coalesce(sum(revision), 0) FROM session),
		(SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size)`
	if err := s.read.QueryRowContext(ctx, query).Scan(&size.Sessions, &size.Records, &size.Free); err != nil {
		return size, s.fault(ctx, err)
	}
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(s.path + suffix); err == nil {
			size.Bytes += info.Size()
		}
	}
	return size, nil
}

// fromMicros reads a time in microseconds since 1970, UTC; 0 is the zero time.
func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n)
}
