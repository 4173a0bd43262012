package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// keep puts a sample session where Claude Code keeps its own, changed at the given hour.
func (p *place) keep(name, content string, hour int) string {
	p.t.Helper()
	path := p.path("home", ".claude", "projects", "-w", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
	at := time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func TestSessionsAreFoundByThemselves(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	sample, err := os.ReadFile(repo.Path(t, "examples", "sessions", "claude-code-ratelimit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	p.keep("old.jsonl", string(sample), 1)
	p.keep("new.jsonl", string(sample[:len(sample)-20]), 2) // still being written
	p.keep("not-yet.jsonl", `{"type":"summary","leafUuid":"x"}`+"\n", 3)

	// The names of the sessions, and what is said of them once.
	r := p.run("compare", "--strategy", "high-density", "-o", "json").done(t)
	var names []string
	for _, s := range decode[struct{ Sessions []struct{ Name string } }](t, r).Sessions {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"new.jsonl", "old.jsonl"}, names); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{"the newest 2 of 3 sessions (claude-code 3)", "the last record is cut off"} {
		if strings.Count(r.stderr, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, r.stderr)
		}
	}
	if n := strings.Count(r.stderr, "skipped records"); n != 1 {
		t.Errorf("%d lines on bookkeeping:\n%s", n, r.stderr)
	}
	// A directory is walked; one session is the newest.
	if r := p.run("tokens", p.path("home", ".claude")).done(t); !strings.Contains(r.stdout, " tokens in ") {
		t.Errorf("got %s", r.stdout)
	}
	if r := p.run("tokens").done(t); !strings.Contains(r.stderr, "the newest of 3 sessions (claude-code 3): "+
		p.path("home", ".claude", "projects", "-w", "new.jsonl")) {
		t.Errorf("got %s", r.stderr)
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"compare", "--project", p.path("work")}, 1, "found no sessions of"},
		{[]string{"compare", "--agent", "none"}, 2, "unknown agent"},
		{[]string{"compare", "--agent", "codex", "x"}, 2, "do not go with FILE"},
		{[]string{"compare", "--last", "-1"}, 2, "--last"},
		{[]string{"tokens", "--from", "none", "x"}, 2, "known: native"},
		{[]string{"tokens", p.path("work")}, 1, "no session in it"},
	} {
		p.run(tt.args...).failed(t, tt.code, tt.want)
	}
}

func TestCompareAdvisesAndWritesTheSettings(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	args := append([]string{"compare", "--strategy", "high-density,top-down-truncation", "--prices", "no-cache",
		"--set", "model.contextLimit=30000", "--min-recall", "60"}, samples(t)...)
	r := p.run(append(args, "--write")...).done(t)
	want := "compression.density.cadence: priced\ncompression.strategy: high-density\nmodel.priceList: no-cache\n"
	if !strings.Contains(r.stdout, "Of those that keep at least 60.0 % of the lines that later turns used and of the "+
		"agent's own words and edits, high-density priced is the cheapest at no-cache's prices: -29 % against doing nothing, "+
		"-19 % in the worst session (") {
		t.Errorf("no advice in\n%s", r.stdout)
	}
	if got, err := os.ReadFile(p.path("work", "thresh.yaml")); err != nil || string(got) != want {
		t.Errorf("written %q, %v", got, err)
	}
	// What is there already is kept.
	p.file("thresh.yaml", "compression.strategy: top-down-truncation # mine\n")
	if r := p.run(append(args, "--write")...); r.code != 1 || !strings.Contains(r.stderr, "compression.strategy is set in") {
		t.Errorf("exit status %d: %s", r.code, r.stderr)
	}
	p.file("thresh.yaml", "{log: {level: warn}}\n") // no line can follow it
	if r := p.run(append(args, "--write")...); r.code != 1 || !strings.Contains(r.stderr, "add them yourself: compression.") {
		t.Errorf("exit status %d: %s", r.code, r.stderr)
	}
	if r := p.run(append(args, "--min-recall", "100")...).done(t); !strings.Contains(r.stdout, "at least 100.0 % of the lines") {
		t.Errorf("got %s", r.stdout)
	}
}
