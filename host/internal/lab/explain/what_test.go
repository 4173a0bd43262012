package explain_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/lab/explain"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

func call(id, name, parameters string) content.ToolCall {
	return content.ToolCall{ID: id, Name: name, Parameters: json.RawMessage(parameters)}
}

func TestDescribe(t *testing.T) {
	entries := []content.Content{
		says(content.Human, "  please\n\tlook  at \x1b[31mthis  "),
		{Speaker: content.AI, Blocks: []content.Block{
			content.Thinking{Thought: "hm"}, content.Text{Text: "reading"},
			call("1", "read_file", `{"file_path":"src/a.go"}`), call("2", "run_shell_command", `{"command":"ls\n-l"}`),
			call("3", "exec_command", `{"cmd":"make"}`),
		}},
		{
			Speaker: content.Tool,
			Blocks: []content.Block{
				content.ToolResponse{CallID: "1", ToolName: "read_file"}.WithResultText("package a"),
			},
		},
		{
			Speaker: content.Tool,
			Blocks: []content.Block{
				content.ToolResponse{CallID: "2", ToolName: "run_shell_command", Error: "no such\ndirectory"},
			},
		},
		{
			Speaker: content.Tool,
			Blocks: []content.Block{content.ToolResponse{CallID: "3", ToolName: "exec_command"}.WithResultText(
				"Process exited with code 2\nOutput:\n")},
		},
		{Speaker: content.Tool, Blocks: []content.Block{content.ToolResponse{CallID: "9", ToolName: ""}}},
		{Speaker: content.AI, Blocks: []content.Block{content.Text{Text: " "}, content.Thinking{Thought: "why"}}},
		{Speaker: content.Human, Blocks: []content.Block{content.Media{MimeType: "image/png", Data: "x"}}},
		{Speaker: content.Human, Blocks: []content.Block{content.Code{Code: "x := 1"}}},
		{Speaker: content.AI, Blocks: []content.Block{content.Opaque{JSON: []byte(`{"type":"hologram"}`)}}},
		{Speaker: content.AI},
		says(content.Human, strings.Repeat("long ", 1<<20)),
	}
	want := []string{
		`"please look at [31mthis"`,
		`read_file src/a.go (and 2 more)`,
		`read_file src/a.go → "package a"`,
		`run_shell_command ls -l → error: no such directory`,
		`exec_command make → error: "Process exited with code 2 Output:"`,
		`(unnamed tool) → (empty)`,
		`thinking: "why"`,
		`attachment image/png`,
		`code: "x := 1"`,
		`block of unknown kind hologram`,
		`(empty)`,
		`"` + strings.Repeat("long ", 11) + `long…"`,
	}
	if diff := cmp.Diff(want, explain.Describe(entries, taxonomy(t))); diff != "" {
		t.Error(diff)
	}
}

// A description is one short line that a terminal prints as it stands, whatever the history holds.
func TestDescriptionsArePrintable(t *testing.T) {
	known := taxonomy(t)
	rapid.Check(t, func(rt *rapid.T) {
		history := gen.History(gen.Options{Malformed: true, MediaBlocks: true}).Draw(rt, "history")
		what := explain.Describe(history, known)
		if len(what) != len(history) {
			rt.Fatalf("%d descriptions of %d entries", len(what), len(history))
		}
		for _, s := range what {
			if s == "" || utf8.RuneCountInString(s) > 250 ||
				strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
				rt.Fatalf("described as %q", s)
			}
		}
	})
}
