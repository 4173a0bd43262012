package summary_test

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/summarytest"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/summary"
	"github.com/thresh-dev/thresh/sdk/tools"
)

func TestFlatten(t *testing.T) {
	tests := map[string]struct {
		by     sdk.Speaker
		blocks []sdk.Block
		want   string // "": nothing is left
		from   sdk.Speaker
	}{
		"text": {sdk.Human, []sdk.Block{sdk.Text{Text: "a"}, sdk.Text{Text: " "}, sdk.Text{Text: "b"}}, "a\nb",
			sdk.Human},
		"a call": {sdk.AI, []sdk.Block{sdk.Text{Text: "So."},
			sdk.ToolCall{ID: "1", Name: "ls", Parameters: []byte(`{"path":"."}`)}}, "So.\n[calls ls] {\"path\":\".\"}",
			sdk.AI},
		"a result": {sdk.Tool, []sdk.Block{sdk.ToolResponse{CallID: "1", ToolName: "ls"}.WithResultText("a\nb")},
			"[result of ls]\na\nb", sdk.Human},
		"a structured one": {sdk.Tool, []sdk.Block{sdk.ToolResponse{CallID: "1", Result: []byte(`{"n":1}`)}},
			"[result of tool]\n{\"n\":1}", sdk.Human},
		"a failure": {sdk.Tool, []sdk.Block{sdk.ToolResponse{CallID: "1", ToolName: "ls", Error: "denied"}},
			"[result of ls]\nerror: denied", sdk.Human},
		"code": {sdk.AI, []sdk.Block{sdk.Code{Code: "x := 1\n", Language: "go"}}, "```go\nx := 1\n```", sdk.AI},
		"a picture": {sdk.Human, []sdk.Block{sdk.Media{MimeType: "image/png", Data: "QUJD", Filename: "a.png",
			Caption: "b"}}, "[Attached image: a.png]", sdk.Human},
		"one with a URL": {sdk.Human, []sdk.Block{sdk.Media{MimeType: "image/png", Data: "https://x/?key=1",
			Encoding: "url"}}, "[Attached image: image/png]", sdk.Human},
		"a document": {sdk.Human, []sdk.Block{sdk.Media{MimeType: "application/pdf", Caption: "the\nplan"}},
			"[Attached PDF: the]", sdk.Human},
		"something": {sdk.Human, []sdk.Block{sdk.Media{}}, "[Attached file: unnamed]", sdk.Human},
		"thoughts":  {sdk.AI, []sdk.Block{sdk.Thinking{Thought: "hm"}}, "", ""},
		"nothing":   {sdk.AI, nil, "", ""},
		"an unknown block": {sdk.AI, []sdk.Block{sdk.Opaque{JSON: []byte(`{"type":"hologram","data":"x"}`)},
			sdk.Opaque{JSON: []byte("null")}}, "[Part of unknown kind: hologram]\n[Part of unknown kind: unnamed]",
			sdk.AI},
		"an unknown author": {"narrator", []sdk.Block{sdk.Text{Text: "Meanwhile."}}, "Meanwhile.", sdk.Human},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := summary.Flatten(sdk.Content{Speaker: test.by, Blocks: test.blocks})
			if ok != (test.want != "") || summarytest.Text(got) != test.want || got.Speaker != test.from {
				t.Errorf("%v, %s: %q", ok, got.Speaker, summarytest.Text(got))
			}
		})
	}
}

func TestLine(t *testing.T) {
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("some words on a line\n", 245)
	tests := map[string]struct {
		tool, params, result, err string
		want                      string // "": the result stays
	}{
		"a read": {"read_file", `{"file_path":"src/index.ts"}`, text, "",
			"[read_file: src/index.ts — success, 245 lines]"},
		"a failed one": {"read_file", `{"file_path":"src/index.ts"}`, text, "denied",
			"[read_file: src/index.ts — error, 245 lines]"},
		"an open last line": {"read_file", `{"file_path":"src/index.ts"}`, text + "x", "",
			"[read_file: src/index.ts — success, 246 lines]"},
		"a command": {"run_shell_command", `{"command":"go test ./...\necho"}`, text, "",
			"[run_shell_command: go test ./... — success, 245 lines]"},
		"a lost call":         {"read_file", "", text, "", "[read_file — success, 245 lines]"},
		"no name":             {"", "", text, "", "[tool — success, 245 lines]"},
		"shorter than a line": {"read_file", `{"file_path":"src/index.ts"}`, "ok", "", ""},
		"a line already": {"read_file", `{"file_path":"x"}`, "[read_file: src/index.ts — error, 245 lines]", "",
			""},
		"a key that is escape": {"t", `{"command":"` + strings.Repeat(`\"`, 20) + `"}`, strings.Repeat("x", 50), "",
			""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var call sdk.ToolCall
			if test.params != "" {
				call = sdk.ToolCall{ID: "1", Name: test.tool, Parameters: []byte(test.params)}
			}
			got, ok := summary.Line(taxonomy, call, sdk.ToolResponse{CallID: "1", ToolName: test.tool,
				Error: test.err}.WithResultText(test.result), nil)
			if ok != (test.want != "") || ok && got != test.want {
				t.Errorf("%v, %q", ok, got)
			}
		})
	}
}

func TestCutLeavesWhatIsWaitedFor(t *testing.T) {
	call := func(ids ...string) (e sdk.Content) {
		e.Speaker = sdk.AI
		for _, id := range ids {
			e.Blocks = append(e.Blocks, sdk.ToolCall{ID: id, Name: "ls"})
		}
		return e
	}
	answer := func(id string) sdk.Content {
		return sdk.Content{Speaker: sdk.Tool, Blocks: []sdk.Block{sdk.ToolResponse{CallID: id, ToolName: "ls"}}}
	}
	hi := summarytest.Said(sdk.Human, "hi")
	tests := map[string]struct {
		history  []sdk.Content
		at, want int
	}{
		"nothing waits":                   {[]sdk.Content{hi, call("1"), answer("1"), hi}, 4, 4},
		"a call waits at the end":         {[]sdk.Content{hi, hi, call("1")}, 3, 2},
		"one of two":                      {[]sdk.Content{hi, hi, call("1", "2"), answer("1")}, 4, 2},
		"it stands behind the cut":        {[]sdk.Content{hi, hi, call("1")}, 1, 1},
		"a pair is around it":             {[]sdk.Content{hi, call("1"), call("2"), answer("1")}, 4, 1},
		"it was left behind long ago":     {[]sdk.Content{hi, call("1"), hi, hi}, 4, 4},
		"between a call and its response": {[]sdk.Content{hi, call("1"), answer("1"), hi}, 2, 3},
		"beyond the end":                  {[]sdk.Content{hi}, 7, 1},
		"nothing there":                   {nil, 3, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := summary.Cut(test.history, test.at); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}
