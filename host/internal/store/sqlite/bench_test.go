package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/storetest"
)

func BenchmarkSQLite(b *testing.B) {
	storetest.Benchmark(b, func(b *testing.B) store.Store {
		return open(b, filepath.Join(b.TempDir(), "sessions.db"))
	})
	// What the disk and SQLite take for the same bytes without a store: three inserts and a commit.
	b.Run("bare", func(b *testing.B) {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+
			"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		if _, err := db.Exec("CREATE TABLE record (id INTEGER PRIMARY KEY, kind INTEGER, data BLOB)"); err != nil {
			b.Fatal(err)
		}
		insert, err := db.Prepare("INSERT INTO record (kind, data) VALUES (?, ?)")
		if err != nil {
			b.Fatal(err)
		}
		storetest.Measure(b, 1, func(int) error {
			tx, err := db.Begin()
			if err != nil {
				return err
			}
			for range 3 {
				if _, err := tx.Stmt(insert).Exec(1, storetest.Entry); err != nil {
					return err
				}
			}
			return tx.Commit()
		})
	})
}
