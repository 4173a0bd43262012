package compare

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/sdk/content"
)

// What an edit relies on is found in every form in which agents write one.
func TestTheLinesThatAnEditReplaces(t *testing.T) {
	for name, tt := range map[string]struct {
		params any
		want   []string
	}{
		"old text": {map[string]any{"old_string": "first line\nsecond line\r\n", "new_string": "x"},
			[]string{"first line", "second line"}},
		"nested":    {map[string]any{"edits": []any{map[string]any{"oldText": "first line"}}}, []string{"first line"}},
		"new alone": {map[string]any{"content": "first line\n second"}, nil},
		"patch": {"*** Begin Patch\n*** Update File: a.go\n@@ func\n same\n-gone\n+new\n*** Add File: b.go\n+all\n same\n",
			[]string{"same", "gone"}},
		"diff":    {map[string]any{"diff": "--- a\n+++ b\n@@ -1,2 +1 @@\n-gone\n+new\n"}, []string{"gone"}},
		"blocks":  {map[string]any{"diff": "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n"}, []string{"old"}},
		"no JSON": {json.RawMessage(`{"old_string": `), nil},
	} {
		raw, ok := tt.params.(json.RawMessage)
		if !ok {
			raw, _ = json.Marshal(tt.params)
		}
		var got []string
		replaced(raw, func(line string) { got = append(got, line) })
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// A file's line is the same whether a tool numbered it or not, and wherever it stands.
func TestLinesOfFiles(t *testing.T) {
	const line = "return nil, err"
	for _, b := range []content.Block{
		content.Text{Text: "a\n   " + line + "\n"},
		content.ToolResponse{Result: content.String("    12→\t" + line + "\n}")},
		content.ToolResponse{Result: content.String(`{"output":"12: ` + line + `\n}"}`)},
		content.ToolResponse{Result: json.RawMessage(`{"output":"12\t` + line + `\n}"}`)},
		content.ToolCall{Parameters: json.RawMessage(`{"content":"{\n` + line + `"}`)},
	} {
		found := false
		blockLines(b, func(s string) { found = found || s == line })
		if !found {
			t.Errorf("%+v: the line was not found", b)
		}
	}
	for _, short := range []string{"}", "  12→}", "--------------", ""} {
		if got := fileLine(short); got != "" {
			t.Errorf("%q is looked for as %q", short, got)
		}
	}
}
