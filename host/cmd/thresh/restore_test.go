package main_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asLines is a session as lines in the native form.
func asLines(t *testing.T, p *place, file string) []string {
	t.Helper()
	return strings.Split(strings.TrimSpace(p.run("restore", "-o", "json", file).done(t).stdout), "\n")
}

// What a strategy removed and trimmed comes back from the transcript of a session, byte by byte, by the id that the
// outcome of the turn names, although the strategy has made entries of its own meanwhile.
func TestRestoreBringsBackWhatWasPruned(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file("s.json", pruning)
	original := asLines(t, p, "s.json")

	a := p.serve("--set", "transcript.dir="+p.path("work", "kept"))
	s := a.open("", object{"workspace.root": "/w", "compression.strategy": "high-density"})
	a.call("history.add", object{"session": s, "entries": json.RawMessage(pruning)}, nil)
	pruned := a.prepare(s)
	a.call("session.close", object{"session": s}, nil)
	a.end()

	files, err := filepath.Glob(p.path("work", "kept", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("transcripts: %v, %v", files, err)
	}
	changes, _ := pruned.Outcome["changes"].([]any)
	if len(changes) != 3 {
		t.Fatalf("%d entries were changed, want 3", len(changes))
	}
	var ids, want []string
	for i, c := range changes {
		ids = append(ids, c.(object)["entry"].(string))
		want = append(want, original[i])
	}
	r := p.run(append([]string{"restore", "-o", "json", files[0]}, ids...)...).done(t)
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(r.stdout), "\n")); diff != "" || r.stderr != "" {
		t.Errorf("restored, and said %q:\n%s", r.stderr, diff)
	}
	r = p.run("restore", files[0], "1").done(t) // the id of a call
	for _, want := range []string{ids[1] + " (entry 1, line 2, ai)", ids[2] + " (entry 2, line 3, tool)",
		"content of b.ts"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s", want, r.stdout)
		}
	}
	if diff := cmp.Diff(original, asLines(t, p, files[0])); diff != "" {
		t.Errorf("the whole conversation:\n%s", diff)
	}
}
