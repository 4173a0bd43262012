package sqlite

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/storetest"
)

func TestMigrations(t *testing.T) {
	storetest.Migrated(t, storetest.Schema{Migrations: migrations, Mark: "PRAGMA user_version=%d",
		New: func(t *testing.T) storetest.Database {
			path := filepath.Join(t.TempDir(), "state", "sessions.db")
			return storetest.Database{
				Open: func(ctx context.Context, steps []store.Migration) (store.Store, error) { return open(ctx, path, steps) },
				Exec: func(t *testing.T, statement string) { execute(t, path, statement) },
			}
		}})
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
