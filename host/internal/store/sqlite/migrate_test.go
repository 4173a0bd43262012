package sqlite

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/storetest"
)

func TestASchemaOfAnyVersionIsBroughtUpToDate(t *testing.T) {
	storetest.Migrated(t, os.DirFS("."), os.DirFS("testdata"),
		func(t *testing.T, schema []store.Migration, sample string) store.Store {
			path := filepath.Join(t.TempDir(), "sessions.db")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", dsn(path))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := migrateTo(t.Context(), conn, path, schema); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.ExecContext(t.Context(), sample); err != nil {
				t.Fatal(err)
			}
			return openFile(t, path)
		})
}

func TestProcessesThatStartTogetherMakeTheTablesOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "sessions.db")
	storetest.StartTogether(t, func(ctx context.Context) (store.Store, error) { return Open(ctx, path) })
}

func openFile(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
