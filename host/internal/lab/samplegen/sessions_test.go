package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/internal/transcript"
	"github.com/thresh-dev/thresh/sdk/content"
)

// event is a tool call or an answer in a session, whatever its format.
type event struct {
	id, tool, path string // an answer has only an id
	answer, failed bool
}

// readSession reads a sample as thresh reads it.
func readSession(t *testing.T, file string) *transcript.Transcript {
	t.Helper()
	tr, err := transcript.ReadFile(filepath.Join(samplesDir, file), transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// sessionEvents returns the calls and answers of a session in their order.
func sessionEvents(t *testing.T, tr *transcript.Transcript) []event {
	t.Helper()
	var events []event
	for _, entry := range tr.Entries {
		for _, block := range entry.Blocks {
			switch b := block.(type) {
			case content.ToolCall:
				in := decode[struct {
					FilePath     string `json:"file_path"`
					AbsolutePath string `json:"absolute_path"`
				}](t, b.Parameters)
				events = append(events, event{id: b.ID, tool: b.Name, path: in.FilePath + in.AbsolutePath})
			case content.ToolResponse:
				events = append(events, event{id: b.CallID, answer: true, failed: b.Failed()})
			}
		}
	}
	return events
}

func decode[T any](t *testing.T, data []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %.80s", err, data)
	}
	return v
}

type claudeLine struct{ Subtype, UUID, ParentUUID string }

func claudeLines(t *testing.T, data []byte) []claudeLine {
	t.Helper()
	var lines []claudeLine
	for line := range bytes.Lines(data) {
		lines = append(lines, decode[claudeLine](t, line))
	}
	return lines
}

func nativeHistory(t *testing.T, data []byte) []json.RawMessage {
	t.Helper()
	return decode[struct{ History []json.RawMessage }](t, data).History
}

func TestSessionsAreLongEnoughAndReadWithoutRemark(t *testing.T) {
	want := map[string]transcript.Format{"ratelimit": transcript.ClaudeCode, "ledger": transcript.GeminiCLI,
		"mdlinks": transcript.Native}
	for _, s := range samples() {
		t.Run(s.story, func(t *testing.T) {
			tr := readSession(t, s.file)
			if tr.Format != want[s.story] {
				t.Errorf("read as %s, want %s", tr.Format, want[s.story])
			}
			if len(tr.Entries) < 100 {
				t.Errorf("%d entries, want at least 100", len(tr.Entries))
			}
			for _, n := range tr.Notes {
				if !n.Routine {
					t.Error(n)
				}
			}
		})
	}
}

// The README's table is made by hand; this keeps its figures those of thresh.
func TestReadmeGivesTheFiguresOfThresh(t *testing.T) {
	counter, err := tokens.For("", "o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	readme := strings.ReplaceAll(string(committed(t, "README.md")), ",", "")
	for _, s := range samples() {
		tr := readSession(t, s.file)
		counts, err := counter.CountAll(t.Context(), tr.Entries, nil)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, n := range counts {
			total += n
		}
		row := regexp.MustCompile(fmt.Sprintf("(?m)^\\| `%s` \\|.*\\| %d \\| %d \\|", regexp.QuoteMeta(s.file),
			len(tr.Entries), total))
		if !row.MatchString(readme) {
			t.Errorf("no row for %s with %d entries and %d tokens", s.file, len(tr.Entries), total)
		}
	}
}

func TestEveryCallHasItsAnswer(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.story, func(t *testing.T) {
			events := sessionEvents(t, readSession(t, s.file))
			waiting, used := map[string]bool{}, map[string]bool{}
			for i, e := range events {
				switch {
				case e.answer && !waiting[e.id]:
					t.Errorf("event %d: an answer to %s, which is no open call", i, e.id)
				case e.answer:
					delete(waiting, e.id)
				case used[e.id]:
					t.Errorf("event %d: the id %s is used twice", i, e.id)
				default:
					waiting[e.id], used[e.id] = true, true
				}
			}
			for id := range waiting {
				t.Errorf("call %s has no answer", id)
			}
		})
	}
}

func TestSessionsShowWhatStrategiesWorkOn(t *testing.T) {
	reads := map[string]bool{"Read": true, "read_file": true}
	edits := map[string]bool{"Edit": true, "Write": true, "replace": true, "write_file": true}
	for _, s := range samples() {
		t.Run(s.story, func(t *testing.T) {
			events := sessionEvents(t, readSession(t, s.file))
			calls, read := map[string]event{}, map[string]bool{}
			stale, again, failedEdits := 0, 0, 0
			for _, e := range events {
				call := calls[e.id]
				switch {
				case !e.answer:
					calls[e.id] = e
				case reads[call.tool]:
					if read[call.path] {
						again++
					}
					read[call.path] = true
				case edits[call.tool] && e.failed:
					failedEdits++
				case edits[call.tool] && read[call.path]:
					stale++
				}
			}
			if stale < 5 || again < 2 || failedEdits < 1 {
				t.Errorf("%d edits of files that were read, want 5; %d files read again, want 2; %d failed "+
					"edits, want 1", stale,
					again, failedEdits)
			}
		})
	}
}

func TestClaudeChainHasNoGaps(t *testing.T) {
	seen, siblings, boundaries := map[string]bool{}, map[string]int{}, 0
	for i, l := range claudeLines(t, committed(t, "claude-code-ratelimit.jsonl")) {
		if l.ParentUUID != "" && !seen[l.ParentUUID] {
			t.Errorf("line %d: no line %s before it", i+1, l.ParentUUID)
		}
		if l.UUID != "" && seen[l.UUID] {
			t.Errorf("line %d: uuid %s again", i+1, l.UUID)
		}
		seen[l.UUID] = true
		siblings[l.ParentUUID]++
		if l.Subtype == "compact_boundary" {
			boundaries++
		}
	}
	branches := 0
	for parent, n := range siblings {
		if parent != "" && n > 1 {
			branches++
		}
	}
	if boundaries != 1 || branches == 0 {
		t.Errorf("%d compactions, want 1; %d lines with several children, want some: parallel calls make them",
			boundaries,
			branches)
	}
}

func TestNativeEntriesAreReadWholeAndWrittenBack(t *testing.T) {
	for i, raw := range nativeHistory(t, committed(t, "native-mdlinks.json")) {
		entry := decode[content.Content](t, raw)
		for j, block := range entry.Blocks {
			if _, unknown := block.(content.Opaque); unknown {
				t.Errorf("entry %d block %d is of an unknown kind", i, j)
			}
		}
		if !entry.Speaker.Known() || len(entry.Extra.All()) > 0 {
			t.Errorf("entry %d: speaker %q, unknown fields %v", i, entry.Speaker, entry.Extra)
		}
		if diff := cmp.Diff(string(raw), string(entry.AppendJSON(nil))); diff != "" {
			t.Errorf("entry %d changed on the way:\n%s", i, diff)
		}
	}
}

func TestInclusionsAreMarkedAndRepeated(t *testing.T) {
	times := map[string]int{}
	for i, raw := range nativeHistory(t, committed(t, "native-mdlinks.json")) {
		entry := decode[content.Content](t, raw)
		if entry.Speaker != content.Human {
			continue
		}
		open := ""
		for line := range strings.SplitSeq(entry.Blocks[0].(content.Text).Text, "\n") {
			name, isMarker := strings.CutPrefix(line, "--- ")
			name, ok := strings.CutSuffix(name, " ---")
			switch {
			case !isMarker || !ok:
			case name == "End of content" && open == "", name != "End of content" && open != "":
				t.Errorf("entry %d: marker %q where the other kind is due", i, line)
			case name == "End of content":
				open = ""
			default:
				open = name
				times[name]++
			}
		}
		if open != "" {
			t.Errorf("entry %d: the inclusion of %s has no end", i, open)
		}
	}
	if diff := cmp.Diff(map[string]int{"scan.go": 2, "check.go": 2, "docs/usage.md": 1}, times); diff != "" {
		t.Error(diff)
	}
}

func TestSessionsNameNoMachine(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples() {
		data := string(committed(t, s.file))
		for _, place := range []string{os.TempDir() + "/sessions-", filepath.Dir(here), "/Users/"} {
			if strings.Contains(data, place) {
				t.Errorf("%s contains %q", s.file, place)
			}
		}
	}
}
