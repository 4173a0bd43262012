package main_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// Every line that people read of a session fits a terminal, whatever was recorded; lines of names that cannot be broken
// are no longer than those.
func TestEveryLineFitsATerminal(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	samples := repo.Samples(t)
	recorded, err := filepath.Glob(repo.Path(t, "..", "shared", "sessions", "native", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	recorded = slices.DeleteFunc(recorded, repo.Unread)
	recorded = recorded[:min(len(recorded), full.Or(4, len(recorded)))]
	commands := [][]string{append([]string{"compare", "--set", "model.contextLimit=30000"}, samples...),
		append([]string{"compare", "--sessions", "--min-recall", "100", "--set", "model.contextLimit=20000",
			"--strategy", "high-density,top-down-truncation"}, samples...)}
	for _, file := range append(samples, recorded...) {
		commands = append(commands, []string{"explain", file})
	}
	for _, args := range commands {
		r := p.run(args...)
		if r.code != 0 || r.stdout == "" {
			t.Errorf("%q: %d %s", args, r.code, r.stderr)
		}
		if line := wider(r.stdout, 80); line != "" {
			t.Errorf("%q: %s", args, line)
		}
	}
}
