package main_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/backends"
)

func TestTheTreeOfASession(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	setting := "sqlite:" + p.path("work", "sessions.db")
	kept, err := backends.Open(t.Context(), setting)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		id, parent string
		entries    int
	}{{"main", "", 0}, {"fork", "main", 7}, {"fork-of-it", "fork", 9}, {"sib\u202eling", "main", 4}, {"other", "", 0}} {
		origin := store.Origin{Parent: store.Key{ID: s.parent}, ForkedAt: uint64(s.entries), ForkedEntries: s.entries}
		if _, err := kept.Create(t.Context(), store.Key{ID: s.id}, origin); err != nil {
			t.Fatal(err)
		}
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	// An id that an agent chose does not change how the lines around it look.
	const tree = `
main (0 entries)
├─ fork (0 entries, from entry 7) *
│  └─ fork-of-it (0 entries, from entry 9)
└─ sib�ling (0 entries, from entry 4)
`
	shown := p.run("sessions", "show", "fork", "--set", "sessions.store="+setting)
	if !strings.HasSuffix(shown.stdout, tree) || !strings.Contains(shown.stdout, "parent    main, from entry 7\n") {
		t.Errorf("%s%s", shown.stdout, shown.stderr)
	}
	list := p.run("sessions", "list", "--set", "sessions.store="+setting)
	if !regexp.MustCompile(`(?m)^fork-of-it .* fork *$`).MatchString(list.stdout) {
		t.Errorf("%s%s", list.stdout, list.stderr)
	}
}
