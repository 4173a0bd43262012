package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/postgres"
	"github.com/thresh-dev/thresh/host/internal/store/sqlite"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
)

// benchStores are the stores of this machine; PostgreSQL only where THRESH_TEST_POSTGRES names a database.
func benchStores(b *testing.B) map[string]store.Store {
	b.Helper()
	kept := map[string]store.Store{"none": nil}
	file, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "sessions.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = file.Close() })
	kept["sqlite"] = file
	if url := os.Getenv("THRESH_TEST_POSTGRES"); url != "" {
		db, err := postgres.Open(b.Context(), url)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = db.Close() })
		kept["postgres"] = db
	}
	return kept
}

// BenchmarkOpenStored opens a session of 5,000 entries, as it is after many turns with a strategy that prunes.
func BenchmarkOpenStored(b *testing.B) {
	dir := benchPlugins(b)
	for name, kept := range benchStores(b) {
		if kept == nil {
			continue
		}
		b.Run(name, func(b *testing.B) {
			h := openHost(b, dir, config.Override{Key: "compression.strategy", Value: "high-density"})
			h.SetStore(kept)
			o := engine.SessionOptions{ID: fmt.Sprint("bench", os.Getpid())}
			s, err := h.Session(o)
			if err != nil {
				b.Fatal(err)
			}
			entries := gen.Session(5600, 1)
			for at := 0; at < len(entries); at += 8 {
				add(b, s, entries[at:min(at+8, len(entries))]...)
				prepareTurn(b, s)
			}
			_ = s.Close()
			n := 0
			for b.Loop() {
				s, err := h.Session(o)
				if err != nil {
					b.Fatal(err)
				}
				n = len(s.History().Entries)
				_ = s.Close()
			}
			b.ReportMetric(float64(n), "entries")
		})
	}
}

// BenchmarkStoredTurn is what an ordinary turn costs: three entries are added to a history of 2,000 and the next
// request is prepared.
func BenchmarkStoredTurn(b *testing.B) {
	dir := benchPlugins(b)
	for name, kept := range benchStores(b) {
		b.Run(name, func(b *testing.B) {
			h := openHost(b, dir, config.Override{Key: "compression.strategy", Value: "idle"})
			h.SetStore(kept)
			s, err := h.Session(engine.SessionOptions{ID: fmt.Sprint("turn", os.Getpid())})
			if err != nil {
				b.Fatal(err)
			}
			add(b, s, gen.Session(2000, 1)...)
			prepareTurn(b, s)
			three := gen.Session(3, 2)
			for b.Loop() {
				add(b, s, three...)
				prepareTurn(b, s)
			}
		})
	}
}
