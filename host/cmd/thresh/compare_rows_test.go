package main_test

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// What a person gets of the samples: tables, a page, and what is said of them. All of it is one run.
func TestCompareOfTheSamples(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("out.html", "an earlier one")
	compare := func(t *testing.T) (r result, page string) {
		r = p.run(append([]string{"compare", "--set", "model.contextLimit=30000", "--sessions", "--report", "out.html",
			"--parallel", "3"}, samples(t)...)...).done(t)
		text, err := os.ReadFile(p.path("work", "out.html"))
		if err != nil {
			t.Fatal(err)
		}
		return r, string(text)
	}
	r, page := compare(t)
	_, all, found := strings.Cut(r.stdout, "\nall sessions\n")
	table, below, more := strings.Cut(all, "\n\n")
	if !found || !more {
		t.Fatalf("no table of all sessions in\n%s", r.stdout)
	}
	t.Run("one row for each strategy", func(t *testing.T) {
		var names []string
		for _, line := range strings.Split(table, "\n")[2:] { // below the two lines of the head
			names = append(names, strings.Fields(line)[0])
		}
		if diff := cmp.Diff([]string{"nothing", "distill", "high-density", "top-down-truncation"}, names); diff != "" {
			t.Errorf("rows:\n%s", diff)
		}
		if strings.Contains(table, "…") || strings.Contains(table, " - ") {
			t.Errorf("a name is cut, or a strategy has no cost at a price list:\n%s", table)
		}
	})
	t.Run("says what the columns mean", func(t *testing.T) {
		for _, want := range []string{"\n$ ", "\nRECALL  ", "\nOWN     ", "one row per strategy",
			"requests are over the context limit", "prices as of 20"} {
			if !strings.Contains("\n"+below, want) {
				t.Errorf("no %q in\n%s", want, below)
			}
		}
		for _, want := range []string{"RECALL", "anthropic-", "OVER\n", "claude-code-ratelimit.jsonl (145 entries"} {
			if !strings.Contains(r.stdout, want) {
				t.Errorf("no %q in\n%s", want, r.stdout)
			}
		}
	})
	t.Run("fits eighty columns", func(t *testing.T) {
		fitsEighty(t, r.stdout, "VARIANT", "SAVED", "sonnet $", "WORST", "RECALL")
	})
	// Those that need a model have no rows and do not count as a failure, and a message says what to do.
	t.Run("leaves out what needs a model", func(t *testing.T) {
		if strings.Contains(r.stdout, "not run") || strings.Contains(r.stdout, "one-shot") ||
			!strings.Contains(r.stderr, "not run: middle-out, one-shot: ") ||
			!strings.Contains(r.stderr, "compression.profile") {
			t.Errorf("on standard output:\n%s\non standard error:\n%s", r.stdout, r.stderr)
		}
	})
	t.Run("writes a page", func(t *testing.T) {
		for _, want := range []string{"<!doctype html>", "claude-code-ratelimit.jsonl", "gemini-cli-ledger.json",
			"native-mdlinks.json", "top-down-truncation", "</html>"} {
			if !strings.Contains(page, want) {
				t.Errorf("no %q in the page", want)
			}
		}
		const times = `<footer>`
		_, second := compare(t)
		a, _, found := strings.Cut(page, times)
		b, _, _ := strings.Cut(second, times)
		if a != b || !found {
			t.Error("the second time the page is another one")
		}
		if left, err := os.ReadDir(p.path("work")); err != nil || len(left) != 1 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		p.file("a.json", pruning)
		r := p.run("compare", "--report", "nosuch/out.html", "a.json")
		if r.code != 1 || !strings.Contains(r.stderr, "--report") || r.stdout != "" { // before any work
			t.Errorf("exit status %d\n%s\n%s", r.code, r.stdout, r.stderr)
		}
	})
}

// A variant that is asked for has a row, but for one that decides by a price list without a column, which says nothing.
func TestCompareHasARowForEachVariant(t *testing.T) {
	t.Parallel()
	out := newPlace(t).run(append([]string{"compare", "--set", "model.contextLimit=30000",
		"--prices", "anthropic-sonnet,no-cache", "--vary", "compression.density.cadence=every-turn,priced"},
		samples(t)...)...).done(t).stdout
	table, _, _ := strings.Cut(out, "\n\n")
	if n := strings.Count(out, "\nhigh-density"); n != 2 || strings.Contains(out, "one row per strategy") ||
		strings.Contains(out, "(no-cache)") {
		t.Errorf("%d rows of high-density in\n%s", n, out)
	}
	if strings.Contains(table, "…") {
		t.Errorf("a name is cut:\n%s", table)
	}
	fitsEighty(t, out, "VARIANT", "RECALL")
}

// A wide pipe has room for more columns, and who asks for all gets them.
func TestCompareShowsMoreColumnsWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file("a.json", pruning)
	cmd := p.command("compare", "--prices", "anthropic-sonnet,no-cache", "a.json")
	cmd.Env = append(cmd.Env, "COLUMNS=160")
	wide, _, _ := strings.Cut(p.finish(cmd).done(t).stdout, "\n\n")
	longest := 0
	for line := range strings.Lines(wide) {
		longest = max(longest, utf8.RuneCountInString(strings.TrimSpace(line)))
	}
	if longest <= 120 || longest > 160 || !strings.Contains(wide, "EDITS") {
		t.Errorf("COLUMNS=160 gives lines of up to %d:\n%s", longest, wide)
	}
	all := p.run("compare", "--strategy", "high-density", "--columns", "all", "a.json").done(t).stdout
	for _, want := range []string{"REREADS", "REWRITES", "PEAK", "COMPRESSED", "PLUGIN"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

// fitsEighty fails the test unless there are tables whose first line begins with head, no line of them is wider than 80
// columns, and all of what is wanted is there.
func fitsEighty(t *testing.T, text, head string, wants ...string) {
	t.Helper()
	inTable, tables := false, 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(strings.TrimLeft(line, " "), head) {
			inTable, tables = true, tables+1
		}
		if line == "" { // the prose after a table wraps by itself
			inTable = false
		}
		if width := utf8.RuneCountInString(line); inTable && width > 80 {
			t.Errorf("%d columns: %s", width, line)
		}
	}
	if tables == 0 {
		t.Errorf("no table in\n%s", text)
	}
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
