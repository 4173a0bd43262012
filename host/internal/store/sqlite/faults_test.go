package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

var key = store.Key{ID: "s"}

func change(text string) store.Change {
	return store.Change{Records: []store.Record{{Kind: store.Added, Data: []byte(text)}}}
}

// filled is a store with a session that has one record.
func filled(t *testing.T) (*Store, store.Head) {
	t.Helper()
	return fill(t, filepath.Join(t.TempDir(), "state", "sessions.db"))
}

func fill(t *testing.T, path string) (*Store, store.Head) {
	t.Helper()
	s := openFile(t, path)
	h, err := s.Create(t.Context(), key, store.Origin{})
	if err == nil {
		h, err = s.Append(t.Context(), key, h.Position(), change("first"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, h
}

// wantCause checks an error and shows what a user reads.
func wantCause(t *testing.T, err error, cause store.Cause) {
	t.Helper()
	if !store.IsCause(err, cause) {
		t.Errorf("got %v, want the cause %q", err, cause)
		return
	}
	t.Log(err)
}

func wantLog(t *testing.T, s *Store, want ...string) {
	t.Helper()
	var got []string
	for r, err := range s.Records(t.Context(), key, store.Choice{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(r.Data[:min(len(r.Data), 20)]))
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("the log is %q, want %q", got, want)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOnlyTheOwnerCanReadTheFile(t *testing.T) {
	s, _ := filled(t)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(s.path + suffix)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", suffix, info, err)
		}
	}
	if info, err := os.Stat(filepath.Dir(s.path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory: %v, %v", info, err)
	}
}

func TestLimitOnTheSizeOfFiles(t *testing.T) {
	s, h := filled(t)
	testFull(t, s, h, func() func() {
		var old syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
		small := old
		small.Cur = 300_000
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
			t.Skip("SKIPPED:", err)
		}
		return func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old) }
	})
}

// testFull appends until there is no space left, and once more when there is again.
func testFull(t *testing.T, s *Store, h store.Head, use func() (free func())) {
	free := use()
	defer free()
	want := []string{"first"}
	var err error
	for n := 0; err == nil && n < 100; n++ {
		text := fmt.Sprint("record ", n, " ")
		var next store.Head
		if next, err = s.Append(t.Context(), key, h.Position(), change(text+strings.Repeat("x", 20_000))); err == nil {
			h, want = next, append(want, (text + strings.Repeat("x", 20))[:20])
		}
	}
	wantCause(t, err, store.Full)
	wantCause(t, s.Ready(t.Context()), store.Full)
	if now, err := s.Head(t.Context(), key); err != nil || now.Position() != h.Position() {
		t.Errorf("while full the session is at %+v, acknowledged was %+v (%v)", now.Position(), h.Position(), err)
	}
	free()
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("with space again: %v", err)
	}
	if _, err := s.Append(t.Context(), key, h.Position(), change("after")); err != nil {
		t.Fatalf("with space again: %v", err)
	}
	wantLog(t, s, append(want, "after")...)
}

// lockFile takes the lock for writing, as another process does.
func lockFile(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := db.Exec("COMMIT"); err != nil {
			t.Error(err)
		}
	}
}

func TestLockedFile(t *testing.T) {
	defer func(old time.Duration) { lockTimeout = old }(lockTimeout)
	lockTimeout = 50 * time.Millisecond
	s, h := filled(t)
	unlock := lockFile(t, s.path)
	_, err := s.Append(t.Context(), key, h.Position(), change("locked"))
	wantCause(t, err, store.Locked)
	wantLog(t, s, "first") // readers do not need the lock
	unlock()
	if _, err := s.Append(t.Context(), key, h.Position(), change("second")); err != nil {
		t.Error(err)
	}
	wantLog(t, s, "first", "second")
}

// A call that waits for the writer can be canceled, and then has no effect.
func TestACanceledCallHasNoEffect(t *testing.T) {
	s, h := filled(t)
	busy, release := make(chan struct{}), make(chan struct{})
	go func() {
		_ = s.change(context.Background(), func(*statements, *job) error {
			close(busy)
			<-release
			return nil
		})
	}()
	<-busy
	ctx, cancel := context.WithCancel(t.Context())
	canceled := make(chan error, 1)
	go func() {
		_, err := s.Append(ctx, key, h.Position(), change("never"))
		canceled <- err
	}()
	cancel()
	if err := <-canceled; !errors.Is(err, context.Canceled) {
		t.Errorf("the canceled call: %v", err)
	}
	close(release)
	if _, err := s.Append(t.Context(), key, h.Position(), change("second")); err != nil {
		t.Error(err)
	}
	wantLog(t, s, "first", "second")
}

// What is acknowledged survives a loss of power.
func TestACommitWaitsForTheDisk(t *testing.T) {
	s, _ := filled(t)
	var mode, synchronous string
	err := s.read.QueryRowContext(t.Context(),
		"SELECT journal_mode, synchronous FROM pragma_journal_mode, pragma_synchronous").Scan(&mode, &synchronous)
	if err != nil || mode != "wal" || synchronous != "2" { // FULL
		t.Errorf("journal_mode %q, synchronous %q, %v", mode, synchronous, err)
	}
}

// A disk that does not answer holds no call for longer than its bound. A call that the writer has not begun has no
// effect; of one that it has, nothing is known.
func TestADiskThatStalls(t *testing.T) {
	s, h := filled(t)
	within := func() (context.Context, context.CancelFunc) { // in place of CallTimeout
		return context.WithTimeoutCause(t.Context(), 50*time.Millisecond, store.ErrSlow)
	}
	began, release := make(chan struct{}), make(chan struct{})
	stalled := func(ctx context.Context) error {
		return s.change(ctx, func(*statements, *job) error {
			close(began)
			<-release
			return nil
		})
	}
	errs := make(chan error, 1)
	go func() {
		ctx, cancel := within()
		defer cancel()
		errs <- stalled(ctx)
	}()
	<-began
	ctx, cancel := within()
	defer cancel()
	_, err := s.Append(ctx, key, h.Position(), change("never"))
	for _, c := range []struct {
		err     error
		unknown bool
	}{{err, false}, {<-errs, true}} {
		var fault *store.Fault
		if !errors.As(c.err, &fault) || fault.Cause != store.Slow || fault.Unknown != c.unknown {
			t.Errorf("got %v, want one of an unknown outcome: %v", c.err, c.unknown)
		}
	}
	wantLog(t, s, "first") // readers do not need the writer
	asked, cancel := within()
	defer cancel()
	wantCause(t, s.Ready(asked), store.Slow)
	close(release)
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("when the disk answers again: %v", err)
	}
	if _, err := s.Append(t.Context(), key, h.Position(), change("second")); err != nil {
		t.Error(err)
	}
	wantLog(t, s, "first", "second")
}

func TestDamagedFiles(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, path string)
		cause  store.Cause
	}{
		"no database": {overwrite(0, []byte(strings.Repeat("not a database. ", 300))), store.Corrupt},
		"damaged page": {func(t *testing.T, path string) {
			overwrite(4096, bytes.Repeat([]byte{0xa5}, 3*4096))(t, path)
		}, store.Corrupt},
		"second half gone": {func(t *testing.T, path string) {
			info, err := os.Stat(path)
			if err == nil {
				err = os.Truncate(path, info.Size()/2)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, store.Corrupt},
		"database of another program": {func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			execute(t, path, "CREATE TABLE theirs (x)")
		}, store.Foreign},
		"directory": {func(t *testing.T, path string) {
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, store.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := filled(t)
			execute(t, s.path, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			c.damage(t, s.path)
			path := s.path
			before, _ := os.ReadFile(path)
			s, err := Open(t.Context(), path)
			if err == nil {
				defer s.Close()
				err = s.Check(t.Context())
			}
			wantCause(t, err, c.cause)
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestCheckFindsMissingRecords(t *testing.T) {
	s, _ := filled(t)
	execute(t, s.path, "DELETE FROM record")
	wantCause(t, s.Check(t.Context()), store.Corrupt)
	for _, err := range s.Records(t.Context(), key, store.Choice{}) {
		wantCause(t, err, store.Corrupt)
	}
}

func overwrite(at int64, data []byte) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteAt(data, at); err != nil {
			t.Fatal(err)
		}
	}
}

// execute runs a statement on the file, as another program does.
func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}
