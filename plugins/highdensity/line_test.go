package highdensity

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/prune"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// shorten compresses a history of one exchange and returns what became of the result.
func shorten(t *testing.T, params string, response sdk.ToolResponse) string {
	t.Helper()
	history := []sdk.Content{
		call(response.CallID, response.ToolName, params),
		{Speaker: sdk.Tool, Blocks: []sdk.Block{response}, Metadata: []byte(`{"marksAt":[{"block":0,"line":246}]}`)},
		said(sdk.Human, "next"),
	}
	got := sdktest.Compress(t, Strategy{}, history, sdktest.Config{PreserveThreshold: new(0.0)})
	return got.History[1].Blocks[0].(sdk.ToolResponse).ResultText()
}

func TestLine(t *testing.T) {
	text := strings.Repeat("some words on a line\n", 245)
	respond := func(tool, result string) sdk.ToolResponse {
		return sdk.ToolResponse{CallID: "1", ToolName: tool}.WithResultText(result)
	}
	withError := respond("read_file", text)
	withError.Error = "no such file"
	object := respond("read_file", "")
	object.Result = []byte(`{"output":"` + strings.Repeat("x", 200) + `","code":0}`)
	path := `{"file_path":"src/index.ts"}`
	nameless := respond("read_file", text)
	nameless.CallID = ""
	gemini := respond("run_shell_command", "")
	gemini.Result = content.ToolResponse{}.WithResultText("Command: make\nOutput: " + text + "Error: (none)\nExit Code: 1\n" +
		"Signal: (none)\nBackground PIDs: (none)").Result
	gemini.Result = []byte(`{"output":` + string(gemini.Result) + `}`)
	tests := map[string]struct {
		params   string
		response sdk.ToolResponse
		want     string
	}{
		"a read":              {path, respond("read_file", text), "[read_file: src/index.ts — success, 245 lines]"},
		"a failed read":       {path, withError, "[read_file: src/index.ts — error, 245 lines]"},
		"a last line is open": {path, respond("read_file", text+"x"), "[read_file: src/index.ts — success, 246 lines]"},
		"one line": {path, respond("read_file", strings.Repeat("x", 200)),
			"[read_file: src/index.ts — success, 1 line]"},
		"an object": {path, object, "[read_file: src/index.ts — success, 1 line]"},
		"a command": {`{"command":"go test ./...\necho done"}`, respond("run_shell_command", text),
			"[run_shell_command: go test ./... — success, 245 lines]"},
		"a failed command": {`{"cmd":"make"}`, respond("exec_command", "Exit code: 2\n"+text),
			"[exec_command: make — error, 246 lines]"},
		"a failed command of Gemini CLI": {`{"command":"make"}`, gemini, "[run_shell_command: make — error, 250 lines]"},
		"a command that runs on": {`{"cmd":"make"}`, respond("exec_command", "Process running with session ID 5\n"+text),
			"[exec_command: make — still running, 246 lines]"},
		"a command of SWE-agent": {`{"command":"make"}`, respond("bash", text+"bash-$"),
			"[bash: make — outcome unknown, 246 lines]"},
		"a result with a gap": {path, respond("read_file", text+"[… 12 lines omitted]\n"+text),
			"[read_file: src/index.ts — success, 502 lines]"},
		"a line of the tool that reads like a mark": {path,
			respond("read_file", text[:63]+"[… 12 lines omitted]\n"+text[63:]),
			"[read_file: src/index.ts — success, 246 lines]"},
		"a long command": {`{"command":"` + strings.Repeat("é", 200) + `"}`, respond("run_shell_command", text),
			"[run_shell_command: " + strings.Repeat("é", 119) + "… — success, 245 lines]"},
		"control characters": {`{"file_path":"a\u0007b\u2028c"}`, respond("read_file", text),
			"[read_file: a b c — success, 245 lines]"},
		"no key":                     {`{}`, respond("list", text), "[list — success, 245 lines]"},
		"no id":                      {path, nameless, text},
		"no name":                    {`{}`, respond("", text), "[tool — success, 245 lines]"},
		"shorter than its line":      {path, respond("read_file", "ok"), "ok"},
		"fewer characters than that": {path, respond("read_file", strings.Repeat("三", 40)), strings.Repeat("三", 40)},
		"longer as JSON": {`{"command":"` + strings.Repeat(`\"`, 20) + `"}`,
			respond("t", strings.Repeat("x", 50)), strings.Repeat("x", 50)},
		"nothing":       {path, sdk.ToolResponse{CallID: "1", ToolName: "read_file"}, ""},
		"pruned before": {`{}`, respond("ls", prune.Pointer), prune.Pointer},
		"a line from an earlier pass": {`{"file_path":"other"}`,
			respond("read_file", "[read_file: src/index.ts — error, 245 lines]"),
			"[read_file: src/index.ts — error, 245 lines]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := shorten(t, test.params, test.response); got != test.want {
				t.Errorf("got  %.300s\nwant %.300s", got, test.want)
			}
		})
	}
}
