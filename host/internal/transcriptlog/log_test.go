package transcriptlog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/transcriptlog"
	"github.com/thresh-dev/thresh/sdk/content"
)

func says(text string) content.Content {
	return content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: text}}}
}

func TestWhatWasAddedComesBack(t *testing.T) {
	j, err := transcriptlog.Open(filepath.Join(t.TempDir(), "not", "there", "yet"), "s1")
	if err != nil {
		t.Fatal(err)
	}
	entries := []content.Content{
		says("two\nlines, a \u2028 and \"quotes\""),
		{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: "1", Name: "run",
			Parameters: []byte(`{"b":1.0,"a":2}`)}, content.Opaque{JSON: []byte(`{"type":"new"}`)}}},
		{Speaker: content.Tool, Blocks: []content.Block{content.ToolResponse{CallID: "1", ToolName: "run",
			Result: content.String("ok")}}},
		{Speaker: content.Human, Extra: content.FieldsOf(content.Field{Name: "threshId", Value: []byte(`"of its own"`)},
			content.Field{Name: "id", Value: []byte(`7`)})},
	}
	ids := []string{"e1", "e2", "e5", "e6"} // e3 and e4 are what a strategy made
	j.Add(ids[0], entries[0])
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(entries); i++ {
		j.Add(ids[i], entries[i])
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := transcript.ReadFile(j.Path(), transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(entries, got.Entries); diff != "" {
		t.Error(diff)
	}
	for i, id := range ids {
		found, _, err := transcriptlog.Find(t.Context(), j.Path(), id)
		if diff := cmp.Diff(entries[i:i+1], found); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", id, err, diff)
		}
	}
}

// A replay of the file must send what the session sent: the last system prompt counts.
func TestTheSystemPromptComesBack(t *testing.T) {
	prompt := func(text string) []content.Block { return []content.Block{content.Text{Text: text}} }
	for name, tt := range map[string]struct {
		set   [][]content.Block
		want  []content.Block
		lines int
	}{
		"none":             {set: [][]content.Block{nil}},
		"one":              {set: [][]content.Block{prompt("be brief")}, want: prompt("be brief"), lines: 1},
		"set at each turn": {set: [][]content.Block{prompt("a"), prompt("a")}, want: prompt("a"), lines: 1},
		"changed":          {set: [][]content.Block{prompt("a"), prompt("b")}, want: prompt("b"), lines: 2},
		"taken back":       {set: [][]content.Block{prompt("a"), nil}, lines: 2},
	} {
		t.Run(name, func(t *testing.T) {
			j, err := transcriptlog.Open(t.TempDir(), "s")
			if err != nil {
				t.Fatal(err)
			}
			for _, blocks := range tt.set {
				j.SetSystem(blocks)
			}
			j.Add("e1", says("hello"))
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := transcript.ReadFile(j.Path(), transcript.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.System); diff != "" || len(got.Entries) != 1 {
				t.Errorf("%d entries; %s", len(got.Entries), diff)
			}
			text, err := os.ReadFile(j.Path())
			if lines := strings.Count(string(text), "\n") - 1; err != nil || lines != tt.lines {
				t.Errorf("%d lines of system prompts, want %d; %v", lines, tt.lines, err)
			}
			found, unread, err := transcriptlog.Find(t.Context(), j.Path(), "e1")
			if err != nil || len(found) != 1 || unread != 0 {
				t.Errorf("found %v, %d unread, %v", found, unread, err)
			}
		})
	}
}

func TestNames(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ session, want string }{
		{"a-1_b.c", "a-1_b.c.jsonl"},
		{"a-1_b.c", "a-1_b.c-2.jsonl"},
		{"../../etc/passwd", "_.._etc_passwd.jsonl"},
		{"..", "session.jsonl"},
		{strings.Repeat("x", 400), strings.Repeat("x", 200) + ".jsonl"},
	} {
		j, err := transcriptlog.Open(dir, c.session)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		if got := filepath.Base(j.Path()); got != c.want || filepath.Dir(j.Path()) != dir {
			t.Errorf("the file of session %q is %s, want %s", c.session, j.Path(), c.want)
		}
	}
}

func TestDirectoryThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := transcriptlog.Open(file, "s"); err == nil || !strings.Contains(err.Error(), "transcript.dir") {
		t.Errorf("got %v, want an error that names the setting", err)
	}
}

func TestNilKeepsNothing(t *testing.T) {
	var j *transcriptlog.Log
	j.Add("e1", says("a"))
	j.SetSystem([]content.Block{content.Text{Text: "a"}})
	if j.Flush() != nil || j.Close() != nil || j.Path() != "" {
		t.Error("a nil Log does something")
	}
}
