package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// A file that is deleted or renamed stays open, and SQLite goes on writing to it: acknowledged writes are then lost
// with the process, or in a file that no one looks for. So each call checks that the path still names the opened file,
// and the writer checks again before it tells its callers that they are done.

// displaced returns why the store must not be used: its path, or that of its write-ahead log, no longer names the
// opened file. It costs two microseconds.
func (s *Store) displaced() error {
	if s.file == nil {
		return nil
	}
	var what string
	switch now, err := os.Stat(s.path); {
	case err != nil:
		what = "the file was deleted or renamed while it was in use" + rescue(s.path, s.file)
	case !os.SameFile(now, s.file):
		what = "the file was replaced by another file while it was in use" + rescue(s.path, s.file)
	case s.cut.Load():
		what = fmt.Sprintf("its log, %s-wal, was cut while it was in use: what was added last may be lost", s.path)
	case s.hasLog():
		return nil
	default: // SQLite still has the log open
		what = fmt.Sprintf("its log, %s-wal, was deleted or replaced while it was in use; end thresh, which moves the log "+
			"into the file, before anything else opens that", s.path)
	}
	return &store.Fault{Cause: store.Displaced, Store: s.path, Err: errors.New(what)}
}

func (s *Store) hasLog() bool {
	log := s.log.Load()
	if log == nil {
		return true
	}
	now, err := os.Stat(s.path + "-wal")
	return err == nil && os.SameFile(now, *log)
}

// Sizes in the log in bytes: of its header, and of a page with its frame header.
const logHeader, logFrame = 32, 24 + 4096

// checkLog notices that the log was cut since the last commit. SQLite would go on behind the gap, which reads as empty.
func (w *writer) checkLog(ctx context.Context) error {
	info, err := os.Stat(w.path + "-wal")
	if err != nil || info.Size() >= w.logSize {
		return nil
	}
	// A checkpoint may have emptied it after moving all to the file. If it was cut, this cannot read what is missing.
	var busy, frames, moved int64
	err = w.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &frames, &moved)
	if err != nil || moved < frames && logHeader+frames*logFrame > info.Size() {
		w.cut.Store(true)
		return w.displaced()
	}
	w.logSize = info.Size()
	return nil
}

// seeLog takes the log's present state as what checkLog expects.
func (w *writer) seeLog() {
	if info, err := os.Stat(w.path + "-wal"); err == nil {
		w.log.Store(&info)
		w.logSize = info.Size()
	}
}

// rescue says where the sessions still are, if the system tells: where the file is now or, if it has no name any more,
// how to copy what this process has open.
func rescue(path string, file fs.FileInfo) string {
	const open = "/proc/self/fd"
	list, err := os.ReadDir(open)
	if err != nil {
		return ""
	}
	var data, log string
	for _, fd := range list {
		link := filepath.Join(open, fd.Name())
		name, err := os.Readlink(link)
		if err != nil {
			continue
		}
		own := fmt.Sprintf("/proc/%d/fd/%s", os.Getpid(), fd.Name())
		switch info, err := os.Stat(link); {
		case err == nil && os.SameFile(info, file):
			if !strings.HasSuffix(name, " (deleted)") {
				return fmt.Sprintf("; it is %s now: end thresh and move it back, with %s-wal next to it", name, path)
			}
			data = own
		case filepath.Base(strings.TrimSuffix(name, " (deleted)")) == filepath.Base(path)+"-wal":
			log = own
		}
	}
	if data == "" {
		return ""
	}
	copies := fmt.Sprintf("cp %s COPY", data)
	if log != "" {
		copies += fmt.Sprintf("; cp %s COPY-wal", log)
	}
	return "; the sessions are still open in this process, until it ends: copy them now, with " + copies
}

// replaced reports whether another file has the path. What SQLite does when its last connection closes, such as
// removing the log next to the file, would happen to that file.
func (s *Store) replaced() bool {
	now, err := os.Stat(s.path)
	return err == nil && !os.SameFile(now, s.file)
}

func (s *Store) Ready(ctx context.Context) error {
	if s.closed() {
		return store.ErrClosed
	}
	if err := s.displaced(); err != nil {
		return err
	}
	if err := s.space(); err != nil {
		return err
	}
	var n int
	if err := s.queries.exists.QueryRowContext(ctx, 0).Scan(&n); err != nil {
		return s.fault(ctx, err)
	}
	return s.doubt.Ready(ctx, s)
}

// minSpace is what a small append takes with the pages around it, in bytes.
const minSpace = 64 << 10

// space returns a fault if the file system is full, or the file as large as it may get. It costs microseconds.
func (s *Store) space() error {
	if s.atLimit() {
		return &store.Fault{Cause: store.Full, Store: s.path, Err: errors.New("the limit on the size of files is reached")}
	}
	if left, ok := spaceLeft(s.path); ok && left < minSpace {
		return &store.Fault{Cause: store.Full, Store: s.path, Err: fmt.Errorf("%d bytes are left", left)}
	}
	return nil
}
