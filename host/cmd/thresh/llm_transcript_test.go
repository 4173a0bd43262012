package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// pointer is the note in a summary, which the path follows.
const pointer = "Full pre-compression transcript available at: "

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

func TestTheSummarySaysWhereTheWholeConversationIs(t *testing.T) {
	t.Parallel()
	p := newLLMPlace(t, "openai", modelapi.Options{})
	session := sample(t, "gemini-cli-ledger.json")
	before := p.native(session)
	for _, strategy := range llmNames {
		dir := "kept-" + strategy
		got := decode[compressed](t, p.run("plugins", "try", "--strategy", strategy, "--set", "transcript.dir="+dir, session))
		file := p.kept(dir)
		if !slices.ContainsFunc(texts(got.History), func(text string) bool {
			return strings.HasPrefix(text, snapshot) && slices.Contains(strings.Split(text, "\n"), pointer+file)
		}) {
			t.Errorf("%s: no summary has the line %q", strategy, pointer+file)
		}
		if diff := cmp.Diff(before, p.native(file)); diff != "" {
			t.Errorf("%s: the transcript is not the session:\n%.2000s", strategy, diff)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", strategy, info.Mode(), err)
		}
	}
}

// native is the history in a file of any format, byte for byte as the native form has it.
func (p *llmPlace) native(file string) []string {
	p.t.Helper()
	text := p.run("sessions", "convert", "--to", "native", file).done(p.t).stdout
	var document struct{ History []json.RawMessage }
	history := &document.History
	var err error
	if text[0] == '[' { // nothing but the history
		err = json.Unmarshal([]byte(text), history)
	} else {
		err = json.Unmarshal([]byte(text), &document)
	}
	if err != nil || len(*history) == 0 {
		p.t.Fatalf("%s has no history: %v", file, err)
	}
	var out []string
	for _, entry := range *history {
		out = append(out, string(entry))
	}
	return out
}

func sample(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "examples", "sessions", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
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
				!strings.HasSuffix(text, "\n"+pointer+p.path("work", "kept", "a_b.jsonl")) {
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

func TestATranscriptThatCannotBeBegun(t *testing.T) {
	t.Parallel()
	p := newLLMPlace(t, "openai", modelapi.Options{})
	p.file("s.jsonl", workday(60))
	p.file("taken", "")
	for _, dir := range []string{"taken", "taken/below", "/proc/thresh"} {
		p.run("plugins", "try", "--set", "transcript.dir="+dir, "s.jsonl").failed(t, 1, "transcript.dir",
			strings.TrimSuffix(dir, "/below"))
	}
	if n := len(p.server.Requests()); n > 0 {
		t.Errorf("the model was asked %d times", n)
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
