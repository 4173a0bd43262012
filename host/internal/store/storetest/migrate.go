package storetest

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Schema is a kind of store whose form changes from version to version.
type Schema struct {
	// Migrations are the steps that ship.
	Migrations fs.FS
	// Prefix begins the names of its tables.
	Prefix string
	// Mark is a statement that records a version, written %d, as the store's.
	Mark string
	// New makes an empty database.
	New func(t *testing.T) Database
}

// Database is one database of a [Schema].
type Database struct {
	// Open opens it as a host does whose program has these steps.
	Open func(ctx context.Context, steps []store.Migration) (store.Store, error)
	// Exec runs a statement.
	Exec func(t *testing.T, statement string)
}

// Migrated tests how stores get from one form to the next, with made-up steps behind those that ship.
func Migrated(t *testing.T, s Schema) {
	shipped, err := store.Migrations(s.Migrations)
	if err != nil {
		t.Fatal(err)
	}
	then := func(steps []store.Migration, sql string) []store.Migration {
		next := steps[len(steps)-1].Version + 1
		sql = strings.ReplaceAll(sql, "$", s.Prefix)
		return append(slices.Clone(steps), store.Migration{Version: next, SQL: sql})
	}
	// Run twice, it fails.
	next := then(shipped, `ALTER TABLE $session ADD COLUMN later integer; UPDATE $session SET tokens = tokens + 7`)
	failing := then(next, `UPDATE $session SET tokens = 0; SELECT nothing FROM $session`)

	for name, test := range map[string]func(*testing.T, Database){
		"a store gets the next form once, with its sessions": func(t *testing.T, d Database) {
			written(t, d, shipped)
			holds(t, d, next, 4+7)
			holds(t, d, next, 4+7)
		},
		"a new store gets all forms": func(t *testing.T, d Database) {
			written(t, d, next)
			holds(t, d, next, 4)
		},
		"a step that fails undoes those before it": func(t *testing.T, d Database) {
			written(t, d, shipped)
			want := fmt.Sprint("migration to schema ", failing[len(failing)-1].Version)
			if s, err := d.Open(t.Context(), failing); err == nil {
				s.Close()
				t.Error("it opens")
			} else if !store.IsCause(err, store.Broken) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
			holds(t, d, shipped, 4)
			holds(t, d, next, 4+7)
		},
		"hosts that start together make the tables once": func(t *testing.T, d Database) { together(t, d, shipped) },
		"hosts that start together take a step once": func(t *testing.T, d Database) {
			written(t, d, shipped)
			together(t, d, next)
			holds(t, d, next, 4+7)
		},
		"the form of a newer program is refused": func(t *testing.T, d Database) {
			written(t, d, next)
			refused(t, d, shipped, store.Newer)
			holds(t, d, next, 4)
		},
		"a form from before the first release is refused": func(t *testing.T, d Database) {
			written(t, d, shipped)
			for version := 1; version < shipped[0].Version; version++ {
				d.Exec(t, fmt.Sprintf(s.Mark, version))
				refused(t, d, shipped, store.Unreleased)
				refused(t, d, next, store.Unreleased)
			}
			d.Exec(t, fmt.Sprintf(s.Mark, shipped[len(shipped)-1].Version))
			holds(t, d, shipped, 4)
		},
	} {
		t.Run(name, func(t *testing.T) { test(t, s.New(t)) })
	}
}

// kept is the session that migrations must not lose.
var kept = store.Key{Owner: "o", ID: "old"}

// written fills a store with the records "one" and "two" of a session of 4 tokens.
func written(t *testing.T, d Database, steps []store.Migration) {
	t.Helper()
	s, err := d.Open(t.Context(), steps)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	appendChange(t, s, create(t, s, kept), store.Change{Summary: store.Summary{Entries: 3, Tokens: 4},
		Records: []store.Record{record(store.Added, "one"), record(store.Snapshot, "two")}})
}

// holds checks that the session is as it was written, apart from its tokens, and that it can be written.
func holds(t *testing.T, d Database, steps []store.Migration, tokens int) {
	t.Helper()
	s, err := d.Open(t.Context(), steps)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h := head(t, s, kept)
	if log := texts(t, s, kept, store.Choice{}); len(log) < 2 || log[0] != "1 one" || log[1] != "2 two" ||
		h.Snapshot != 2 || h.Created.IsZero() || h.Summary != (store.Summary{Entries: 3, Tokens: tokens}) {
		t.Errorf("the log is %q, the head %+v", log, h)
	}
	appendChange(t, s, h, store.Change{Summary: h.Summary, Records: []store.Record{record(store.Added, "more")}})
	wantError(t, s.Check(t.Context()), nil)
}

func refused(t *testing.T, d Database, steps []store.Migration, cause store.Cause) {
	t.Helper()
	s, err := d.Open(t.Context(), steps)
	if err == nil {
		s.Close()
	}
	if !store.IsCause(err, cause) {
		t.Errorf("got %v, want cause %s", err, cause)
	}
}

// together has hosts open a store at the same moment. Each then writes, so that one with half the tables is found.
func together(t *testing.T, d Database, steps []store.Migration) {
	t.Helper()
	const hosts = 8
	spend := func(amount int64) (int64, error) {
		s, err := d.Open(t.Context(), steps)
		if err != nil {
			return 0, err
		}
		defer s.Close()
		used, err := s.Account(t.Context(), "a", "day", store.Used{Spent: amount})
		return used.Spent, err
	}
	var wg sync.WaitGroup
	for range hosts {
		wg.Go(func() {
			if _, err := spend(1); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if sum, err := spend(0); sum != hosts || err != nil {
		t.Errorf("%d hosts wrote, want %d (%v)", sum, hosts, err)
	}
}
