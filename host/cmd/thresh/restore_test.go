package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
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

func TestRestoreLists(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	for _, file := range repo.Samples(t) {
		got := decode[struct {
			Entries []struct {
				ID, Speaker, What   string
				Index, Line, Tokens int
				Calls               []string
			}
		}](t, p.run("restore", "--list", "-o", "json", file))
		entries := asLines(t, p, file)
		if len(got.Entries) != len(entries) {
			t.Errorf("%s: %d entries of %d", file, len(got.Entries), len(entries))
		}
		for i, e := range got.Entries {
			if e.Index != i || e.ID == "" || e.What == "" || e.Line < 1 {
				t.Errorf("%s, entry %d: %+v", file, i, e)
			}
		}
		last := got.Entries[len(got.Entries)-1]
		r := p.run("restore", "-o", "json", file, last.ID, got.Entries[0].ID, last.ID).done(t)
		if want := entries[len(entries)-1] + "\n" + entries[0] + "\n"; r.stdout != want {
			t.Errorf("%s: got\n%.500s", file, r.stdout)
		}
	}
	p.file("s.json", pruning)
	if r := p.run("restore", "--list", "s.json").done(t); !strings.Contains(r.stdout, "e3  4     tool") ||
		!strings.Contains(r.stderr, "holds no ids") {
		t.Errorf("got\n%s%s", r.stdout, r.stderr)
	}
}

// A terminal does nothing that a tool's result asks it to.
func TestRestoreIsSafeToLookAt(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file(
		"s.jsonl",
		`{"speaker":"human","blocks":[{"type":"text","text":"a\u001b]0;owned\u0007\r\nb\u202e"},`+
			`{"type":"tool_call","id":"\u001b[2J","name":"\u001b","parameters":{}}]}`+"\n",
	)
	for _, args := range [][]string{{"restore", "s.jsonl"}, {"restore", "--list", "s.jsonl"},
		{"restore", "s.jsonl", "[2J"}, {"explain", "s.jsonl"}} {
		r := p.run(args...)
		if strings.ContainsAny(r.stdout+r.stderr, "\x1b\x07\r\u202e") {
			t.Errorf("%v: %q %q", args, r.stdout, r.stderr)
		}
	}
}

func TestRestoreSaysWhatItDoesNotFind(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.jsonl", `{"threshId":"e1","speaker":"human","blocks":[{"type":"text","text":"a"}]}`+"\n"+
		`{"threshId":"e12","speaker":"ai","blocks":[{"type":"tool_call","id":"call_abc","name":"x","parameters":{}}]}`+
		"\n")
	p.file("prose", "Dear diary,\n")
	p.file("cut.json", pruning[:20])
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"restore"}, 2, []string{"needs a TRANSCRIPT"}},
		{[]string{"restore", "--list", "s.jsonl", "e1"}, 2, []string{"takes no ID"}},
		{[]string{"restore", "s.jsonl", "e1", "e13", "call_abd"}, 1,
			[]string{"s.jsonl", `"e13" (did you mean "e1" or "e12"?)`, `"call_abd" (did you mean "call_abc"?)`,
				"--list"}},
		{[]string{"restore", "s.jsonl", "1", "2", "3", "4", "5", "6", "7"}, 1, []string{"and 2 more"}},
		{[]string{"restore", "missing"}, 1, []string{"missing", "no such file"}},
		{[]string{"restore", "."}, 1, []string{"directory"}},
		{[]string{"restore", "prose"}, 1, []string{"Dear diary"}},
		{[]string{"restore", "cut.json"}, 1, []string{"cut.json", "truncated"}},
	} {
		p.run(c.args...).failed(t, c.code, c.want...)
	}
}

// A host may be in the middle of a line.
func TestRestoreReadsATranscriptThatIsBeingWritten(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	whole := turns(3)
	if err := os.WriteFile(p.path("work", "s.jsonl"), []byte(whole[:len(whole)-20]), 0o600); err != nil {
		t.Fatal(err)
	}
	r := p.run("restore", "-o", "json", "s.jsonl").done(t)
	if got := strings.Count(r.stdout, "\n"); got != 5 || !strings.Contains(r.stderr, "cut off") {
		t.Errorf("%d entries, and said %q", got, r.stderr)
	}
}
