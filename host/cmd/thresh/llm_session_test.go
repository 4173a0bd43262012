package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// TestARangeFiveTimesTheModelsWindow is folded into one snapshot, in requests of which each fits: the server refuses
// others.
func TestARangeFiveTimesTheModelsWindow(t *testing.T) {
	t.Parallel()
	const window = 16_000
	p := newLLMPlaceHere(t, "openai", modelapi.Options{ContextLimit: window - 2000})
	p.file("s.jsonl", conversation(600))
	got := decode[struct {
		Kind                      string
		TokensBefore, TokensAfter int
	}](t, p.run("plugins", "try", "s.jsonl", "--set", "profiles.writer.provider.contextLimit=16000",
		"--set", "profiles.writer.provider.maxOutput=2000", "--set", "compression.preserveThreshold=0.1",
		"--set", "compression.topPreserveThreshold=0.1"))
	if got.Kind != "applied" || got.TokensBefore-got.TokensAfter < 5*window {
		t.Errorf("%s, %d tokens to %d: not five windows", got.Kind, got.TokensBefore, got.TokensAfter)
	}
	parts := p.asked()
	if len(parts) < 5 {
		t.Errorf("%d requests", len(parts))
	}
	for i, text := range parts[1:] {
		if !strings.Contains(text, "A parser that never panics.") {
			t.Errorf("request %d does not carry the snapshot on", i+2)
		}
	}
}

// TestWhenPrepareReturnsAllIsWritten, whatever was compressed on the way, and the path stays the same.
func TestWhenPrepareReturnsAllIsWritten(t *testing.T) {
	t.Parallel()
	p := newLLMPlace(t, "anthropic", modelapi.Options{})
	a := p.serve("--set", "transcript.dir=kept")
	s := a.open("a/b", object{"model.contextLimit": 8000})
	session := workday(120)
	lines, applied := 0, 0
	for line := range strings.Lines(session) {
		a.call("history.add", object{"session": s, "entries": []any{parseJSON[any](t, line)}}, nil)
		ready := a.prepare(s)
		if lines++; strings.Count(string(read(t, p.path("work", "kept", "a_b.jsonl"))), "\n") != lines {
			t.Fatalf("after %d entries, the transcript has another number", lines)
		}
		if ready.Outcome["compress"].(object)["kind"] != "applied" {
			continue
		}
		applied++
		for _, text := range texts(ready.History) {
			if strings.HasPrefix(text, snapshot) &&
				!strings.HasSuffix(text, "\nFull pre-compression transcript available at: "+p.path("work", "kept", "a_b.jsonl")) {
				t.Errorf("a summary ends with %q", text[max(0, len(text)-200):])
			}
		}
	}
	a.end()
	if applied < 2 {
		t.Errorf("compressed %d times", applied)
	}
	if diff := cmp.Diff(entries(t, session), entries(t, read(t, p.path("work", "kept", "a_b.jsonl")))); diff != "" {
		t.Errorf("the transcript is not what was added:\n%.2000s", diff)
	}
}

// TestAFullDiskStopsBeforeAnythingIsLost: thresh may not write files of more than 16 KiB.
func TestAFullDiskStopsBeforeAnythingIsLost(t *testing.T) {
	t.Parallel()
	p := newLLMPlace(t, "openai", modelapi.Options{})
	cmd := p.command("run", "--set", "transcript.dir=kept")
	limited := exec.Command("/bin/sh", append([]string{"-c", `ulimit -f 32 && exec "$@"`, "sh"}, cmd.Args...)...)
	limited.Dir, limited.Env, limited.SysProcAttr = cmd.Dir, cmd.Env, cmd.SysProcAttr
	a := p.talk(limited)
	s := a.open("s", object{"model.contextLimit": 1000})
	all := entries(t, turns(60))
	a.call("history.add", object{"session": s, "entries": all}, nil)
	e := a.refused(-32000, "window.prepare", object{"session": s}, "transcript", "file too large", "nothing was lost")
	if e.Data.Prepared == nil || cmp.Diff(all, e.Data.Prepared.History) != "" {
		t.Error("the answer does not hold the history as it was")
	}
	var now prepared
	a.call("history.get", object{"session": s}, &now)
	if diff := cmp.Diff(all, now.History); diff != "" {
		t.Errorf("the history changed:\n%.2000s", diff)
	}
	if n := len(p.server.Requests()); n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
	_ = a.stdin.Close()
	a.exits(1)
	if got, want := a.stderr.String(), fmt.Sprintf(`session "s": %d of the entries added are not in`,
		len(all)); !strings.Contains(got, want) {
		t.Errorf("on standard error:\n%s", got)
	}
	for _, line := range entries(t, read(t, p.kept("kept"))) { // no half line
		if len(line) == 0 {
			t.Error("an empty entry")
		}
	}
}

// kept is the one file in a transcript directory.
func (p *llmPlace) kept(dir string) string {
	p.t.Helper()
	files, err := filepath.Glob(p.path("work", dir, "*"))
	if err != nil || len(files) != 1 {
		p.t.Fatalf("transcripts: %v, %v", files, err)
	}
	return files[0]
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
