package tools_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

func TestFailed(t *testing.T) {
	tests := map[string]struct {
		tool, result string
		want         bool
	}{
		"Codex success": {"apply_patch", "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n", false},
		"Codex failure": {"apply_patch", "Exit code: 1\nWall time: 0 seconds\nOutput:\nno such context\n",
			true},
		"Codex signal":             {"exec_command", "Chunk ID: 1\nProcess exited with code -9\nOutput:\n", true},
		"Codex number without end": {"exec_command", "Exit code: 99999999999999999999999\n", true},
		"Codex output lies": {"exec_command", "Wall time: 1\nProcess exited with code 0\nOutput:\nExit code: 1\n",
			false},
		"Codex runs on":               {"exec_command", "Process running with session ID 4\nOutput:\n", false},
		"Codex sign in the middle":    {"exec_command", "it said Exit code: 1\n", false},
		"Codex sign far below":        {"exec_command", strings.Repeat("x\n", 10) + "Exit code: 1" + strings.Repeat("\nx", 10), false},
		"Codex sign far to the right": {"exec_command", strings.Repeat("x", 5000) + "\nExit code: 1" + strings.Repeat("\nx", 10), false},
		"Codex refused": {"apply_patch", "apply_patch verification failed: Failed to find expected lines",
			true},
		"Codex JSON failure": {"apply_patch",
			`{"output":"{\"metadata\":0","metadata":{"exit_code":1,"duration_seconds":0.1}}`, true},
		"Codex JSON success": {"shell", `{"output":"\"exit_code\":1","metadata":{"exit_code":0}}`, false},
		"Codex JSON cut off": {"shell", `{"metadata":{"exit_code":1}`, false},
		"mini-swe-agent success": {"bash", "<returncode>0</returncode>\n<output>\n<returncode>1</returncode></output>",
			false},
		"mini-swe-agent failure":        {"bash", "<returncode>2</returncode>\n<output>\n</output>", true},
		"Cline failure":                 {"editor", `{"query":"edit:a","result":"","success":false}`, true},
		"Cline success":                 {"editor", `{"query":"edit:a","result":"","success":true}`, false},
		"OpenHands refusal":             {"str_replace_editor", "Invalid `path` parameter: a.", true},
		"OpenHands success":             {"str_replace_editor", "The file /w/a has been edited.", false},
		"Claude Code says it in words":  {"Edit", "<tool_use_error>File has not been read yet.</tool_use_error>", true},
		"sign of another tool":          {"Read", "Exit code: 1\n", false},
		"unknown tool":                  {"x", "Exit code: 1\n", true},
		"nothing":                       {"bash", "", false},
		"a file that begins so, viewed": {"Read", "Error: EACCES: this is the file", false},
	}
	params := map[string]string{
		"editor": `{"path":"a","new_text":"b"}`, "str_replace_editor": `{"command":"create","path":"a"}`,
		"Edit": `{"file_path":"a"}`, "Read": `{"file_path":"a"}`,
	}
	taxonomy := mustPresets(t, tools.PresetNames()...)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			call := content.ToolCall{ID: "1", Name: tt.tool, Parameters: []byte(params[tt.tool])}
			r := content.ToolResponse{CallID: "1", ToolName: tt.tool}.WithResultText(tt.result)
			if got := taxonomy.Judge(call, r).Outcome == tools.OutcomeError; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// writers is one call of each preset that writes a file.
var writers = map[string]content.ToolCall{
	"claude-code":    {Name: "Write", Parameters: []byte(`{"file_path":"/a","content":"x"}`)},
	"amp":            {Name: "create_file", Parameters: []byte(`{"path":"/a","content":"x"}`)},
	"goose":          {Name: "developer__text_editor", Parameters: []byte(`{"command":"write","path":"/a","file_text":"x"}`)},
	"cline":          {Name: "write_to_file", Parameters: []byte(`{"path":"/a","content":"x"}`)},
	"codex":          {Name: "apply_patch", Parameters: []byte(`"*** Begin Patch\n*** Update File: a\n*** End Patch"`)},
	"copilot-cli":    {Name: "create", Parameters: []byte(`{"path":"/a","file_text":"x"}`)},
	"gemini-cli":     {Name: "write_file", Parameters: []byte(`{"file_path":"/a"}`)},
	"llxprt":         {Name: "insert_at_line", Parameters: []byte(`{"file_path":"/a"}`)},
	"mcp-filesystem": {Name: "mcp__filesystem__write_file", Parameters: []byte(`{"path":"/a"}`)},
	"crush":          {Name: "multiedit", Parameters: []byte(`{"file_path":"/a"}`)},
	"opencode":       {Name: "edit", Parameters: []byte(`{"filePath":"/a"}`)},
	"openhands":      {Name: "file_editor", Parameters: []byte(`{"command":"str_replace","path":"/a"}`)},
	"pi":             {Name: "edit", Parameters: []byte(`{"path":"/a"}`)},
	"vscode-copilot": {Name: "replace_string_in_file", Parameters: []byte(`{"filePath":"/a"}`)},
	"swe-agent":      {Name: "str_replace_editor", Parameters: []byte(`{"command":"create","path":"/a"}`)},
}

// Every agent's write counts as failed by whatever sign of a failure its response bears, and as done without one.
func TestFailedWritesWithoutAFlag(t *testing.T) {
	text := func(s string) content.ToolResponse { return content.ToolResponse{}.WithResultText(s) }
	raw := func(s string) content.ToolResponse { return content.ToolResponse{Result: []byte(s)} }
	failures := map[string]content.ToolResponse{
		"an error": {Error: "denied"},
		"a flag": {Result: []byte(`"no"`),
			Extra: content.FieldsOf(content.Field{Name: "is_error", Value: []byte("true")})},
		"another flag":           {Extra: content.FieldsOf(content.Field{Name: "status", Value: []byte(`"Error"`)})},
		"Error:":                 text("Error: EACCES: permission denied, open '/a'"),
		"after white space":      text("\n  error: it is locked"),
		"the word alone":         text("ERROR"),
		"a tag":                  text("<tool_use_error>File has not been read yet.</tool_use_error>"),
		"an exception":           text("PermissionError: [Errno 13] '/a'"),
		"a traceback":            text("Traceback (most recent call last):\n  File"),
		"in the first line":      text("write_file: /a: Permission denied"),
		"a number":               text("open /a: EROFS"),
		"an exit line":           text("running\nExit code: 2\nOutput:\n"),
		"an exit line, another":  text("<exited with exit code 1>"),
		"JSON in a text":         text(`{"error":"EACCES"}`),
		"JSON":                   raw(`{"error":{"code":13}}`),
		"success: false":         raw(`{"success":false}`),
		"an exit code":           raw(`{"output":"","exit_code":1}`),
		"a status":               raw(`{"status":"failed","path":"/a"}`),
		"a text inside":          raw(`{"output":"Error: EACCES"}`),
		"blocks":                 raw(`[{"type":"text","text":"Error: EACCES"}]`),
		"an MCP result":          raw(`{"content":[{"type":"text","text":"no"}],"isError":true}`),
		"one of several results": raw(`[{"query":"a","success":true},{"query":"b","success":false}]`),
		"refused by the person":  text("The user doesn't want to proceed with this tool use."),
		"no match":               text("Could not find the exact text in /a"),
		"declined":               text("The user has declined to run this tool. DO NOT attempt to call this tool again."),
		"interrupted":            text("[Tool execution was interrupted]"),
		"rejected":               text("User rejected the command"),
		"a time-out":             text("Request timed out"),
		"a hook":                 text("EDIT FAILED - file was NOT modified"),
		"another hook":           text("WRITE DENIED"),
	}
	successes := map[string]content.ToolResponse{
		"nothing":            {},
		"text":               text("The file /a has been updated successfully."),
		"a name":             text("error_test.go written"),
		"a name with a dot":  text("errors.go: 12 lines written"),
		"a path in the line": text("Wrote /src/filepermissions.ts and /src/fileexists.ts"),
		"an exit line": text("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following " +
			"files:\nM a\n"),
		"further down":   text("Updated /a:\n     1\tError: EACCES\n     2\tx"),
		"JSON":           raw(`{"success":true,"error":null,"errors":[],"exit_code":0,"output":"ok","is_error":false}`),
		"JSON in a text": text(`{"error":"","status":"completed"}`),
		"blocks":         raw(`[{"type":"text","text":"ok"}]`),
		"broken JSON":    text(`{"error":"x"`),
	}
	all := mustPresets(t, tools.PresetNames()...)
	own, err := tools.New(tools.Rule{Names: []string{"scribble"}, Class: tools.ClassWrite, Paths: []string{"to"}})
	if err != nil {
		t.Fatal(err)
	}
	// Amp's words are not public, llxprt's tools are those of the test vectors, and a tool of one's own may have any.
	check := func(t *testing.T, taxonomy *tools.Taxonomy, call content.ToolCall) {
		t.Helper()
		anyWords := slices.Contains([]string{"scribble", writers["amp"].Name, writers["llxprt"].Name}, call.Name)
		if len(taxonomy.Use(call.Name, call.Parameters).Writes) == 0 {
			t.Fatalf("%s is no write", call.Name)
		}
		for name, r := range failures {
			if taxonomy.Judge(call, r).Outcome == tools.OutcomeSuccess {
				t.Errorf("%s: %q counts as a success", name, r.ResultText())
			}
		}
		for name, r := range successes {
			if !anyWords && r.ResultText() != "" && name != "JSON" && name != "an exit line" {
				continue // in words of another tool
			}
			if taxonomy.Judge(call, r).Outcome != tools.OutcomeSuccess {
				t.Errorf("%s: %q counts as a failure", name, r.ResultText())
			}
		}
	}
	// The writes that command lines hold are the shell's: there only the words that agents use count.
	for name, result := range map[string]string{"declined": "The user has declined to run this tool. DO NOT",
		"interrupted": "[Tool execution was interrupted]", "rejected": "User rejected the command",
		"a time-out": "Request timed out"} {
		if !all.Failed(content.ToolCall{Name: "Bash", Parameters: []byte(`{"command":"echo > a"}`)}, text(result)) {
			t.Errorf("a command, %s: it counts as run", name)
		}
	}
	for _, name := range tools.PresetNames() {
		if call, ok := writers[name]; ok {
			t.Run(name, func(t *testing.T) { check(t, mustPresets(t, name), call) })
			t.Run(name+", among all", func(t *testing.T) { check(t, all, call) })
		} else if name != "mini-swe-agent" && name != "mcp-github" { // a shell only, and files elsewhere
			t.Errorf("no write of %s is tried", name)
		}
	}
	t.Run("a tool of one's own", func(t *testing.T) {
		check(t, own, content.ToolCall{Name: "scribble", Parameters: []byte(`{"to":"/a"}`)})
	})
}

// The answers by which agents say that they wrote, as their public sources and recorded sessions have them. In other
// words it is in doubt.
func TestEachAgentSaysInItsWordsThatItWrote(t *testing.T) {
	const roo = `{"path":"a.ts","operation":"modified","notice":"You do not need to re-read the file"}`
	all := mustPresets(t, tools.PresetNames()...)
	for preset, calls := range map[string]map[string][]string{
		"claude-code": {
			`Edit {"file_path":"/a"}`: {"The file /a has been updated successfully. (file state is current in your context)",
				"The file /a has been updated. All occurrences of 'x' were successfully replaced with 'y'.",
				"The file /a has been updated. Here's the result of running `cat -n` on a snippet:\n1\tError"},
			`MultiEdit {"file_path":"/a"}`:        {"Applied 3 edits to /a:\n1. Replaced"},
			`Write {"file_path":"/a"}`:            {"File created successfully at: /a", "The file /a has been updated."},
			`NotebookEdit {"notebook_path":"/a"}`: {"Updated cell c1 with x", "Inserted cell c2 with y", "Deleted cell c3"},
		},
		"codex": {`apply_patch "*** Begin Patch\n*** Update File: a\n*** End Patch"`: {
			"Success. Updated the following files:\nM a", "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.",
			`{"output":"Success. Updated the following files:\nM a\n","metadata":{"exit_code":0}}`,
			"The following files were successfully edited:\n/a", "Successfully applied patch to the following files:", roo}},
		"cline": {
			`write_to_file {"path":"a"}`: {"The content was successfully saved to a.\n\nPlease note", roo,
				"The user made the following updates to your content:\n\n@@"},
			`replace_in_file {"path":"a"}`: {"The content was successfully saved to a."},
			`apply_diff {"path":"a"}`:      {roo, "But unable to apply all diff parts to file: /a. Use\n" + roo},
			`editor {"path":"/a","new_text":"x"}`: {"Edited /a\n@@", "Inserted content at line 3 in /a.",
				"File created successfully at: /a", `{"query":"edit:/a","result":"Edited /a","success":true}`},
		},
		"copilot-cli": {
			`edit {"path":"/a","new_str":"x"}`:     {"File /a updated with changes."},
			`create {"path":"/a","file_text":"x"}`: {"Created file /a with 246 characters"},
		},
		"crush": {
			`edit {"file_path":"/a","old_string":"x"}`: {"<result>\nContent replaced in file: /a\n</result>",
				"<result>\nFile created: /a\n</result>\n"},
			`multiedit {"file_path":"/a"}`:           {"<result>\nApplied 2 edits to file: /a\n</result>"},
			`write {"file_path":"/a","content":"x"}`: {"<result>\nFile successfully written: /a\n</result>"},
		},
		"gemini-cli": {
			`write_file {"file_path":"/a"}`: {`{"output":"Successfully overwrote file: /a."}`,
				"Successfully created and wrote to new file: /a. Here is the updated code:\nx"},
			`replace {"file_path":"/a"}`: {"Successfully modified file: /a (1 replacements).",
				"Created new file: /a with provided content."},
			`edit {"file_path":"/a","old_string":"x"}`: {"The file: /a has been updated. Showing lines 1-9 of 20"},
		},
		"mcp-filesystem": {`mcp__filesystem__write_file {"path":"/a"}`: {"Successfully wrote to /a"},
			`mcp__filesystem__edit_file {"path":"/a"}`: {"```diff\nIndex: /a\n"}},
		"openhands": {`str_replace_editor {"command":"create","path":"/a"}`: {"File created successfully at: /a"},
			`file_editor {"command":"insert","path":"/a"}`:    {"The file /a has been edited. Here's the result"},
			`file_editor {"command":"undo_edit","path":"/a"}`: {"Last edit to /a undone successfully. Here"},
			`edit_file {"path":"/a","content":"x"}`:           {"[Existing file /a is edited with 1 changes.]"}},
		"opencode": {`edit {"filePath":"/a"}`: {"Edit applied successfully."},
			`write {"filePath":"/a","content":"x"}`: {"Wrote file successfully."}},
		"pi": {`edit {"path":"/a"}`: {"Successfully replaced text in /a. Changed 22 characters to 23 characters."},
			`write {"path":"/a","content":"x"}`: {"Successfully wrote 1092 bytes to /a"}},
		"swe-agent": {`edit {"command":"edit 1:2"}`: {"File updated. Please review the changes and make sure",
			"Text replaced. Please review the changes", "[File: /a (18 lines total)]\n1:x"},
			`create {"filename":"a"}`: {"[File: /a (1 lines total)]"}},
		"vscode-copilot": {`create_file {"filePath":"/a"}`: {"File created at /a"},
			`replace_string_in_file {"filePath":"/a"}`: {"The following files were successfully edited:\n/a"},
			`edit_notebook_file {"filePath":"/a"}`:     {"The notebook file was successfully edited."}},
	} {
		for _, taxonomy := range []*tools.Taxonomy{mustPresets(t, preset), all} {
			for call, answers := range calls {
				name, params, _ := strings.Cut(call, " ")
				call := content.ToolCall{Name: name, Parameters: []byte(params)}
				if c := taxonomy.Use(name, call.Parameters).Class; c != tools.ClassWrite {
					t.Errorf("%s: %s is %s", preset, name, c)
				}
				for _, text := range answers {
					if got := taxonomy.Judge(call, content.ToolResponse{}.WithResultText(text)).Outcome; got != tools.OutcomeSuccess {
						t.Errorf("%s, %s: %q is %s", preset, name, text, got)
					}
				}
				for _, text := range []string{"The reviewer asks for another way.", "Please use a smaller change instead.",
					"[preview only]", "Changes were rejected by the user.", "ok, but let me do it", "Doneness"} {
					if taxonomy.Judge(call, content.ToolResponse{}.WithResultText(text)).Outcome == tools.OutcomeSuccess {
						t.Errorf("%s, %s: %q counts as a success", preset, name, text)
					}
				}
			}
		}
	}
}

// What a tool read may say anything: only agents' own rules for that tool tell a failed read.
func TestContentThatWasReadIsNoFailure(t *testing.T) {
	taxonomy := mustPresets(t, tools.PresetNames()...)
	for name, params := range map[string]string{
		"Read": `{"file_path":"/a"}`, "read_file": `{"path":"/a"}`, "view": `{"path":"/a"}`, "read": `{"path":"/a"}`,
		"str_replace_editor": `{"command":"view","path":"/a"}`, "mcp__filesystem__read_file": `{"path":"/a"}`,
	} {
		for _, text := range []string{"Error: EACCES", `{"error":"x"}`, "<tool_use_error>", "Exit code: 1", "ERROR"} {
			call := content.ToolCall{Name: name, Parameters: []byte(params)}
			if taxonomy.Judge(call, content.ToolResponse{}.WithResultText(text)).Outcome != tools.OutcomeSuccess {
				t.Errorf("%s: %q counts as a failure", name, text)
			}
		}
	}
}

// Each preset of an agent that writes says how that agent reports a failure.
func TestPresetsSayHowTheirAgentFails(t *testing.T) {
	for _, name := range tools.PresetNames() {
		rules, _ := tools.Preset(name)
		for _, r := range rules {
			if r.Class == tools.ClassWrite && r.Failure == nil {
				t.Errorf("%s: %v writes, without a sign of failure", name, r.Names)
			}
		}
	}
}
