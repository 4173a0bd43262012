package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"syscall"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// fault says what an error means; it keeps our own errors and the context's. The context comes before the driver's
// error, because an interrupted query fails with a code of SQLite.
func (s *Store) fault(ctx context.Context, err error) error {
	_, ours := errors.AsType[*store.Fault](err)
	switch {
	case err == nil, ours, store.IsRefusal(err), errors.Is(err, store.ErrClosed):
		return err
	case errors.Is(context.Cause(ctx), store.ErrSlow):
		return &store.Fault{Cause: store.Slow, Store: s.path, Err: store.ErrSlow}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	// database/sql has no value for this error.
	case s.closed() && (errors.Is(err, sql.ErrConnDone) || err.Error() == "sql: database is closed"):
		return store.ErrClosed
	}
	// A file that is not where it was fails in many ways.
	if gone := s.displaced(); gone != nil {
		return gone
	}
	// Unknown is not set: the writer knows whether the commit was made.
	return &store.Fault{Cause: s.cause(err), Store: s.path, Err: err}
}

// cause says why a call failed, by SQLite's result code or the system's.
func (s *Store) cause(err error) store.Cause {
	var failed *driver.Error
	switch {
	case errors.As(err, &failed):
		return s.causeOf(failed.Code())
	// SQLite does not notice a missing content.
	case errors.Is(err, store.ErrMissing):
		return store.Corrupt
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EISDIR),
		errors.Is(err, syscall.ENOTDIR):
		return store.Denied
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return store.Full
	}
	return store.Broken
}

// causeOf maps SQLite's result codes, of which the low byte is the primary code.
func (s *Store) causeOf(code int) store.Cause {
	switch code & 0xff {
	case codes.SQLITE_FULL:
		return store.Full
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB: // found while reading, which need not be where the damage began
		return store.Corrupt
	// After a statement has waited lockTimeout for a lock.
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED, codes.SQLITE_PROTOCOL:
		return store.Locked
	case codes.SQLITE_PERM, codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_AUTH:
		return store.Denied
	// ENOSPC is SQLITE_FULL, except where the index of the log needs the space. What is left are disk errors and the
	// process's limit.
	case codes.SQLITE_IOERR:
		if code == codes.SQLITE_IOERR_SHMSIZE || s.atLimit() {
			return store.Full
		}
	}
	return store.Broken
}

// atLimit says whether the file or its log has reached the process's file size limit (ulimit -f), which SQLite reports
// like any other failed write.
func (s *Store) atLimit() bool {
	limit, ok := fileSizeLimit()
	if !ok {
		return false
	}
	const step = 1 << 16 // a write that failed is not larger than a page and its header; pages are at most this
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(s.path + suffix); err == nil && uint64(info.Size())+step > limit {
			return true
		}
	}
	return false
}
