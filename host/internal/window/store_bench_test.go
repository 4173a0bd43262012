package window_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/postgres"
	"github.com/thresh-dev/thresh/host/internal/store/sqlite"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	cluster "github.com/thresh-dev/thresh/internal/testkit/postgres"
)

// benchStores opens the stores of this machine. PostgreSQL waits for the disk, and is left out where it is not
// installed.
var benchStores = map[string]func(*testing.B) store.Store{
	"none": func(*testing.B) store.Store { return nil },
	"sqlite": func(b *testing.B) store.Store {
		s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "sessions.db"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Close() })
		return s
	},
	"postgres": func(b *testing.B) store.Store {
		s, err := postgres.Open(b.Context(), cluster.Start(b, "fsync=on").Database())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Close() })
		return s
	},
}

// BenchmarkOpenStored opens a session of 5,000 entries, as it is after many turns with a strategy that prunes.
func BenchmarkOpenStored(b *testing.B) {
	dir := benchPlugins(b)
	for name, open := range benchStores {
		if name == "none" {
			continue
		}
		b.Run(name, func(b *testing.B) {
			h := openHost(b, dir, config.Override{Key: "compression.strategy", Value: "high-density"})
			h.SetStore(open(b))
			key := store.Key{ID: fmt.Sprint("bench", os.Getpid())}
			s, err := h.Open(window.Opening{Key: key})
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
				s, err := h.Open(window.Opening{Key: key})
				if err != nil {
					b.Fatal(err)
				}
				n = len(owned(b, s).Entries)
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
	for name, open := range benchStores {
		b.Run(name, func(b *testing.B) {
			h := openHost(b, dir, config.Override{Key: "compression.strategy", Value: "idle"})
			h.SetStore(open(b))
			s, err := h.Open(window.Opening{Key: store.Key{ID: fmt.Sprint("turn", os.Getpid())}})
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
