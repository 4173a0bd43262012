package storetest

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Migrated tests that a store of every earlier version can be opened and has its sessions. The directory samples has a
// file v1.sql, v2.sql and so on for each version: statements that fill the tables of that version with the session
// "old", of owner "o" and with the records "one" and "two", the second of which is a snapshot. open fills a new store
// with a schema of that version and with the sample, and opens it as a host does. Samples are written by hand and never
// changed, so a migration that loses data of an old version is found, which a test with stores of the present version
// cannot do.
func Migrated(t *testing.T, migrations, samples fs.FS,
	open func(t *testing.T, schema []store.Migration, sample string) store.Store) {
	steps, err := store.Migrations(migrations)
	if err != nil {
		t.Fatal(err)
	}
	// From each version and not only the last one: hosts skip versions when they are upgraded.
	for version := 1; version <= len(steps); version++ {
		t.Run(fmt.Sprint("from version ", version), func(t *testing.T) {
			sample, err := fs.ReadFile(samples, fmt.Sprintf("v%d.sql", version))
			if err != nil {
				t.Fatalf("each version needs a sample, also the newest: %v", err)
			}
			// Opening it runs the steps that are missing.
			s := open(t, steps[:version], string(sample))
			key := store.Key{Owner: "o", ID: "old"}
			if got := texts(t, s, key, store.Choice{}); !slices.Equal(got, []string{"1 one", "2 two"}) {
				t.Errorf("the log is %q", got)
			}
			h := head(t, s, key)
			if h.Position().Revision != 2 || h.Snapshot != 2 || h.Bytes != 6 || h.Created.IsZero() ||
				h.Summary != (store.Summary{Entries: 3, Tokens: 4}) {
				t.Errorf("the head is %+v", h)
			}
			// Reading is not enough: the migrated tables must take an append by the present statements.
			add(t, s, h, "three")
			wantError(t, s.Check(t.Context()), nil)
		})
	}
}

// StartTogether tests that hosts which open a new store at the same moment make its tables once. open opens it as a
// host does; nothing is there before the first call. Each host then writes, so that one with half the tables is found.
func StartTogether(t *testing.T, open func(ctx context.Context) (store.Store, error)) {
	const hosts = 8
	spend := func(ctx context.Context, amount int64) (int64, error) {
		s, err := open(ctx)
		if err != nil {
			return 0, err
		}
		defer s.Close()
		return s.Spend(ctx, "a", "day", amount)
	}
	var wg sync.WaitGroup
	for range hosts {
		wg.Go(func() {
			if _, err := spend(t.Context(), 1); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if sum, err := spend(t.Context(), 0); sum != hosts || err != nil {
		t.Errorf("%d hosts wrote, want %d (%v)", sum, hosts, err)
	}
}
