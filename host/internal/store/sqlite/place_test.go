package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// What is written to a file that is not where it was is acknowledged to no one, and nothing is read from another file in
// its place. Where the file comes back, the store works again.
func TestAFileThatIsNotWhereItWas(t *testing.T) {
	for what, displace := range map[string]func(t *testing.T, path string){
		"renamed": func(t *testing.T, path string) { rename(t, path, path+".bak") },
		"replaced": func(t *testing.T, path string) {
			rename(t, path, path+".bak")
			other, _ := fill(t, filepath.Join(t.TempDir(), "other.db"))
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			rename(t, other.path, path)
		},
	} {
		t.Run(what, func(t *testing.T) {
			s, h := filled(t)
			displace(t, s.path)
			for range 3 {
				_, err := s.Append(t.Context(), key, h.Position(), change("lost"))
				wantCause(t, err, store.Displaced)
				if runtime.GOOS == "linux" && !strings.Contains(err.Error(), s.path+".bak") {
					t.Errorf("it does not say where the file is: %v", err)
				}
			}
			_, err := s.Head(t.Context(), key)
			wantCause(t, err, store.Displaced)
			wantCause(t, s.Ready(t.Context()), store.Displaced)
			_ = os.Remove(s.path)
			rename(t, s.path+".bak", s.path)
			if err := s.Ready(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := s.Append(t.Context(), key, h.Position(), change("kept")); err != nil {
				t.Error(err)
			}
			wantLog(t, s, "first", "kept")
		})
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// A file that is deleted in the middle of a commit: whoever waits for it is told that it is not kept.
func TestAFileThatIsDeletedDuringACommit(t *testing.T) {
	s, h := filled(t)
	err := s.change(t.Context(), func(*statements, *job) error { return os.Remove(s.path) })
	wantCause(t, err, store.Displaced)
	if fault := (*store.Fault)(nil); !errors.As(err, &fault) || !fault.Unknown {
		t.Errorf("%+v", err)
	}
	_, err = s.Append(t.Context(), key, h.Position(), change("lost"))
	wantCause(t, err, store.Displaced)
	if _, missing := os.Stat(s.path); !errors.Is(missing, fs.ErrNotExist) {
		t.Errorf("the file was made again: %v", missing)
	}
	if runtime.GOOS != "linux" {
		return
	}
	// As the error says, the sessions can be copied from what the process has open.
	copies := regexp.MustCompile(`/proc/\d+/fd/\d+`).FindAllString(err.Error(), -1)
	if len(copies) != 2 {
		t.Fatalf("%v", err)
	}
	saved := filepath.Join(t.TempDir(), "saved.db")
	for i, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(copies[i])
		if err == nil {
			err = os.WriteFile(saved+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	wantLog(t, openFile(t, saved), "first")
}

// The log next to the file has what was added last. Without it, or with a part of it, nothing more is acknowledged, as
// that could not be read later.
func TestALogThatIsNotAsItWas(t *testing.T) {
	for what, c := range map[string]struct {
		change func(log string) error
		says   string
		kept   bool // what was acknowledged before is there when the store is opened again
	}{
		"deleted":  {os.Remove, "-wal, was deleted", true},
		"replaced": {func(log string) error { return errors.Join(os.Remove(log), os.WriteFile(log, nil, 0o600)) }, "-wal, was deleted or replaced", true},
		"emptied":  {func(log string) error { return os.Truncate(log, 0) }, "-wal, was cut", false},
		"cut":      {func(log string) error { return os.Truncate(log, logHeader+2*logFrame) }, "-wal, was cut", false},
	} {
		t.Run(what, func(t *testing.T) {
			s, h := filled(t)
			h, err := s.Append(t.Context(), key, h.Position(), change("second"))
			if err == nil {
				err = c.change(s.path + "-wal")
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				_, err := s.Append(t.Context(), key, h.Position(), change("lost"))
				if wantCause(t, err, store.Displaced); err != nil && !strings.Contains(err.Error(), c.says) {
					t.Error(err)
				}
			}
			wantCause(t, s.Ready(t.Context()), store.Displaced)
			if err := s.Close(); err != nil {
				t.Log(err)
			}
			if c.kept {
				wantLog(t, openFile(t, s.path), "first", "second")
			}
		})
	}
}

// Others may move the log into the file and empty it.
func TestALogThatWasEmptiedByACheckpoint(t *testing.T) {
	s, h := filled(t)
	other := openFile(t, s.path)
	for _, text := range []string{"second", "third"} {
		if _, err := other.read.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(s.path + "-wal"); err != nil || info.Size() > 0 {
			t.Errorf("the log was not emptied: %v", err)
		}
		var err error
		if h, err = s.Append(t.Context(), key, h.Position(), change(text)); err != nil {
			t.Fatal(err)
		}
		execute(t, other.path, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
	}
	wantLog(t, s, "first", "second", "third")
}
