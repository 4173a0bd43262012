package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/sqlite"
	"github.com/thresh-dev/thresh/host/internal/store/storetest"
)

func TestSQLite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (a, b store.Store) {
		path := filepath.Join(t.TempDir(), "sessions.db")
		return open(t, path), open(t, path)
	})
}

func open(tb testing.TB, path string) *sqlite.Store {
	tb.Helper()
	s, err := sqlite.Open(tb.Context(), path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}
