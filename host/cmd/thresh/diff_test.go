package main_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sampleSessions are the project's own recorded sessions.
func sampleSessions(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../../examples/sessions/*.json*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sample sessions: %v", err)
	}
	for i := range files {
		if files[i], err = filepath.Abs(files[i]); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

type difference struct {
	Equal                         bool
	Same, Removed, Added, Changed int
	TokensA, TokensB              int
	Items                         []struct {
		Op               string
		A, B             *int
		TokensA, TokensB int
		Blocks           []struct{ Op, WhatA, WhatB string }
	}
}

func TestDiffShowsWhatAnOptimizeDid(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file("a.json", pruning)
	p.file("b.json", p.run("optimize", "--apply", "--set", "workspace.root=/w", "a.json").done(t).stdout)
	got := decode[difference](t, p.run("diff", "-o", "json", "a.json", "b.json"))
	var ops []string
	saved := 0
	for _, item := range got.Items {
		op := item.Op
		for _, b := range item.Blocks {
			op += " " + b.Op
		}
		ops = append(ops, op)
		saved += item.TokensA - item.TokensB
	}
	if diff := cmp.Diff([]string{"changed changed", "changed removed", "removed"}, ops); diff != "" {
		t.Error(diff)
	}
	if got.Equal || got.Same != 3 || got.Removed != 1 || got.Changed != 2 || got.Added != 0 ||
		got.TokensA-got.TokensB != saved {
		t.Errorf("got %+v, the items save %d tokens", got, saved)
	}
	r := p.run("diff", "a.json", "b.json").done(t)
	for _, want := range []string{"~  0  0  human", "-  2     tool", "(3 the same)", "- block 1: read_file b.ts", "1 removed, 0 added, 2 changed, 3 the same"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s", want, r.stdout)
		}
	}
	cmd := p.command("diff", "--all", "-", "b.json")
	cmd.Stdin = strings.NewReader(pruning)
	if r := p.finish(cmd).done(t); strings.Contains(r.stdout, "(3 the same)") ||
		!strings.Contains(r.stdout, "write_file /w/b.ts") {
		t.Errorf("--all:\n%s", r.stdout)
	}
}

func TestDiffOfASessionWithItself(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, file := range sampleSessions(t) {
		p.file("native.json", p.run("convert", "--to", "native", file).done(t).stdout)
		got := decode[difference](t, p.run("diff", "--exit-code", "-o", "json", file, "native.json"))
		if !got.Equal || len(got.Items) != 0 || got.Same == 0 || got.TokensA != got.TokensB {
			t.Errorf("%s: %+v", file, got)
		}
	}
}

func TestDiffExitStatus(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file("a.json", pruning)
	p.file("b.jsonl", turns(1))
	if r := p.run("diff", "--exit-code", "a.json", "b.jsonl"); r.code != 1 || r.stderr != "" ||
		!strings.Contains(r.stdout, "6 removed, 2 added") {
		t.Errorf("exit status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	p.file("bad.json", pruning[:100])
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"diff", "a.json"}, 2, "needs two files"},
		{[]string{"diff", "-", "-"}, 2, "only one"},
		{[]string{"diff", "a.json", "bad.json"}, 1, "bad.json"},
		{[]string{"diff", "--exit-code", "missing.json", "a.json"}, 1, "missing.json"},
	} {
		p.run(c.args...).failed(t, c.code, c.want)
	}
}
