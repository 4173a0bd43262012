package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
)

func TestFileSystemWithoutSpace(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("SKIPPED: a small file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s, h := fill(t, filepath.Join(dir, "sessions.db"))
	testFull(t, s, h, func() func() {
		ballast := filepath.Join(dir, "ballast")
		_ = os.WriteFile(ballast, make([]byte, 4<<20), 0o600) // ends with an error when the space does
		return func() { _ = os.Remove(ballast) }
	})
}

func TestANewFileWithoutSpace(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("SKIPPED: a small file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	ballast := filepath.Join(dir, "ballast")
	// With a page left, the file has room and the index of its log has not.
	for _, left := range []int64{0, 4096, 8192, 16384} {
		_ = os.WriteFile(ballast, make([]byte, 4<<20), 0o600)
		if info, err := os.Stat(ballast); err != nil || os.Truncate(ballast, info.Size()-left) != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), filepath.Join(dir, "sessions.db"))
		wantCause(t, err, store.Full)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	openFile(t, filepath.Join(dir, "sessions.db"))
}

func TestFileThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	root := os.Geteuid() == 0 // may write to every file, but not on a file system that is read-only
	if root {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
			t.Skipf("SKIPPED: a file system cannot be mounted: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	}
	path := filepath.Join(dir, "sessions.db")
	s, _ := fill(t, path)
	err := s.Close()
	if root {
		err = errors.Join(err, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	} else {
		err = errors.Join(err, os.Chmod(path, 0o400))
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), path)
	wantCause(t, err, store.Denied)
}

// A connection that was given up after a failure, and all of them after Close, must not keep files open.
func TestNoFileStaysOpen(t *testing.T) {
	s, h := filled(t)
	failed := errors.New("as if the disk had failed")
	for range 3 {
		if err := s.change(t.Context(), func(*statements, *job) error { return failed }); !errors.Is(err, failed) {
			t.Fatal(err)
		}
	}
	if _, err := s.Append(t.Context(), key, h.Position(), change("second")); err != nil {
		t.Fatal(err)
	}
	if n := openFiles(t, s.path); n > 3*(readers+1) {
		t.Errorf("after failures %d files are open", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := openFiles(t, s.path); n > 0 {
		t.Errorf("after Close %d files are open", n)
	}
}

func openFiles(t *testing.T, path string) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range all {
		if file, err := os.Readlink(fd); err == nil && strings.HasPrefix(file, path) {
			n++
		}
	}
	return n
}
