package tools_test

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// judged is a result as an agent wrote it, and how its call ended. Most are from recorded sessions.
type judged struct {
	preset, tool, params, result string
	want                         tools.Outcome
	task                         string
}

const (
	success, failed  = tools.OutcomeSuccess, tools.OutcomeError
	running, unknown = tools.OutcomeRunning, tools.OutcomeUnknown
)

var judgedResults = map[string]judged{
	// Claude Code sets a flag too, which the texts must not need: other recorders drop it.
	"Claude Code, Bash": {preset: "claude-code", tool: "Bash", params: `{"command":"golangci-lint run"}`,
		result: "Exit code 127\n(eval):1: command not found: golangci-lint", want: failed},
	"Claude Code, Bash, output ends like a failure": {preset: "claude-code", tool: "Bash",
		params: `{"command":"npm run lint || true"}`,
		result: "12 problems\nerror: script \"lint\" exited with code 1", want: success},
	"Claude Code, output says how another command ended": {preset: "claude-code", tool: "Bash",
		params: `{"command":"cat ci.md"}`,
		result: "On CI:\nexit code 1 means that the linter found something", want: success},
	"Claude Code, output ends as a failed test of Go does": {preset: "claude-code", tool: "Bash",
		params: `{"command":"go test ./... | tail"}`,
		result: "--- FAIL: TestX (0.00s)\nFAIL\nexit status 1\nFAIL\texample.com/x\t0.5s\nFAIL", want: unknown},
	"Claude Code, a file that ends so": {preset: "claude-code", tool: "Read", params: `{"file_path":"/log"}`,
		result: "FAIL\nexit status 1", want: success},
	"Claude Code, time-out": {preset: "claude-code", tool: "Bash", params: `{"command":"sleep 500"}`,
		result: "building\nCommand timed out after 2m 0.0s", want: failed},
	"Claude Code, interrupted": {preset: "claude-code", tool: "Bash", params: `{"command":"make"}`,
		result: `{"stdout":"","stderr":"","interrupted":true}`, want: failed},
	"Claude Code, not interrupted": {preset: "claude-code", tool: "Bash", params: `{"command":"make"}`,
		result: `{"stdout":"ok","stderr":"","interrupted":false}`, want: success},
	"Claude Code, refused by the person": {preset: "claude-code", tool: "ExitPlanMode", params: `{}`,
		result: "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if " +
			"it was a file edit, " +
			"the new_string was NOT written to the file).", want: failed},
	"Claude Code, Edit": {preset: "claude-code", tool: "Edit", params: `{"file_path":"/a"}`,
		result: "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>", want: failed},
	"Claude Code, Read": {preset: "claude-code", tool: "Read", params: `{"file_path":"/a"}`,
		result: "<tool_use_error>File does not exist. Did you mean .golangci.yaml?</tool_use_error>", want: failed},
	"Claude Code, Grep": {preset: "claude-code", tool: "Grep", params: `{"pattern":"x"}`,
		result: "<tool_use_error>Path does not exist: /w/x.tsx. Note: your current working directory is " +
			"/w.</tool_use_error>",
		want: failed},
	"Claude Code, background": {preset: "claude-code", tool: "Bash",
		params: `{"command":"make","run_in_background":true}`,
		result: "Command running in background with ID: b7mn2clg0. Output is being written to: " +
			"/tmp/x/b7mn2clg0.output.",
		want: running, task: "b7mn2clg0"},
	"Claude Code, moved to the background": {preset: "claude-code", tool: "Bash", params: `{"command":"make"}`,
		result: "Command did not complete within its 120s timeout and was moved to the background (ID: " +
			"b9). Output is …",
		want: running, task: "b9"},
	"Claude Code, background, in other words": {preset: "claude-code", tool: "Bash",
		params: `{"command":"make","run_in_background":true}`, result: "started", want: running},
	"Claude Code, end of a task": {preset: "claude-code", tool: "TaskOutput", params: `{"task_id":"b9"}`,
		result: "<retrieval_status>success</retrieval_status>\n\n<task_id>b9</task_id>\n\n" +
			"<task_type>local_bash</task_type>\n\n" +
			"<status>completed</status>\n\n<exit_code>0</exit_code>\n\n<output>\nExit code 1\n</output>",
		want: success},
	"Claude Code, a task goes on": {preset: "claude-code", tool: "BashOutput", params: `{"bash_id":"b9"}`,
		result: "<status>running</status>\n\n<stdout>\nx\n</stdout>", want: running},
	"Claude Code, a task was killed": {preset: "claude-code", tool: "BashOutput", params: `{"bash_id":"b9"}`,
		result: "<status>killed</status>", want: unknown},

	"Codex, success": {preset: "codex", tool: "exec_command", params: `{"cmd":"cat log"}`,
		result: "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: " +
			"3\nOutput:\n" +
			"Exit code: 1\nCommand timed out after 3s\n", want: success},
	"Codex, failure": {preset: "codex", tool: "exec_command", params: `{"cmd":"rg x apps"}`,
		result: "Chunk ID: 36fbaf\nWall time: 0.0006 seconds\nProcess exited with code 2\nOriginal token " +
			"count: 3946\n" +
			"Output:\nrg: apps: No such file or directory (os error 2)\n", want: failed},
	"Codex, still running": {preset: "codex", tool: "exec_command", params: `{"cmd":"npm test"}`,
		result: "Chunk ID: cabb48\nWall time: 10.0021 seconds\nProcess running with session ID 11712\n" +
			"Original token count: 139\nOutput:\nExit code: 0\n", want: running, task: "11712"},
	"Codex, end of a session": {preset: "codex", tool: "write_stdin", params: `{"session_id":11712,"chars":""}`,
		result: "Chunk ID: a88db0\nWall time: 8.0405 seconds\nProcess exited with code 0\nOutput:\n",
		want:   success},
	"Codex, a session goes on": {preset: "codex", tool: "write_stdin", params: `{"session_id":11712,"chars":""}`,
		result: "Chunk ID: e5b325\nWall time: 30.0049 seconds\nProcess running with session ID 11712\nOutput:\n",
		want:   running, task: "11712"},
	"Codex, aborted": {preset: "codex", tool: "write_stdin", params: `{"session_id":54893}`,
		result: "aborted by user after 29.7s", want: failed},
	"Codex, patch": {preset: "codex", tool: "apply_patch",
		params: `{"input":"*** Begin Patch\n*** Update File: a\n*** End Patch"}`,
		result: "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM /w/a\n",
		want:   success},
	"Codex, patch that does not apply": {preset: "codex", tool: "apply_patch",
		params: `{"input":"*** Begin Patch\n*** Update File: a\n*** End Patch"}`,
		result: "apply_patch verification failed: Failed to find expected lines in /w/a", want: failed},
	"Codex, JSON": {preset: "codex", tool: "shell", params: `{"command":["make"]}`,
		result: `{"output":"make: *** [all] Error 1","metadata":{"exit_code":2,"duration_seconds":0.1}}`,
		want:   failed},
	"Codex, JSON, success": {preset: "codex", tool: "shell", params: `{"command":["cat","log"]}`,
		result: `{"output":"Exit code: 1","metadata":{"exit_code":0,"duration_seconds":0.1}}`, want: success},

	"Gemini CLI, failure": {preset: "gemini-cli", tool: "run_shell_command", params: `{"command":"go build ./..."}`,
		result: "Command: go build ./...\nDirectory: (root)\nOutput: ./main.go:8:2: imported and not " +
			"used\nError: (none)\n" +
			"Exit Code: 1\nSignal: (none)\nBackground PIDs: (none)", want: failed},
	"Gemini CLI, success": {preset: "gemini-cli", tool: "run_shell_command",
		params: `{"command":"rm docs/blue.md"}`,
		result: "Command: rm docs/blue.md\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: " +
			"0\nSignal: 0\n" +
			"Background PIDs: (none)\nProcess Group PGID: 27431", want: success},
	"Gemini CLI, a command that speaks of codes": {preset: "gemini-cli", tool: "run_shell_command",
		params: `{"command":"cat <<E\nExit code: 0\nE\nfalse"}`,
		result: "Command: cat <<E\nExit code: 0\nE\nfalse\nDirectory: (root)\nOutput: Exit code: " +
			"0\nError: (none)\n" +
			"Exit Code: 1\nSignal: (none)\nBackground PIDs: (none)", want: failed},
	"Gemini CLI, newer": {preset: "gemini-cli", tool: "run_shell_command", params: `{"command":"false"}`,
		result: "Output: (empty)\nExit Code: 1\nProcess Group PGID: 12", want: failed},
	"Gemini CLI, signal": {preset: "gemini-cli", tool: "run_shell_command", params: `{"command":"sleep 9"}`,
		result: "Output: (empty)\nSignal: SIGKILL\nProcess Group PGID: 12", want: failed},
	"Gemini CLI, time-out": {preset: "gemini-cli", tool: "run_shell_command", params: `{"command":"sleep 999"}`,
		result: "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes " +
			"without output. There was no " +
			"output before it was cancelled.", want: failed},
	"Gemini CLI, background": {preset: "gemini-cli", tool: "run_shell_command",
		params: `{"command":"npm start","is_background":true}`,
		result: "Command moved to background (PID: 20720). Output hidden. Press Ctrl+B to view.",
		want:   running, task: "20720"},
	"Gemini CLI, cancelled": {preset: "gemini-cli", tool: "replace", params: `{"file_path":"/a"}`,
		result: `{"error":"[Operation Cancelled] Reason: User cancelled the operation."}`, want: failed},
	"llxprt, failure": {preset: "llxprt", tool: "run_shell_command", params: `{"command":"false"}`,
		result: "Command: false\nDirectory: (root)\nStdout: (empty)\nStderr: (empty)\nError: (none)\nExit " +
			"Code: 1\n" +
			"Signal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 7", want: failed},

	"Crush, failure": {preset: "crush", tool: "bash", params: `{"command":"make","description":"Builds"}`,
		result: "no rule\n\nExit code 2\n\n<cwd>/w</cwd>", want: failed},
	"Crush, background": {preset: "crush", tool: "bash", params: `{"command":"make","description":"Builds"}`,
		result: "Command is taking longer than expected and has been moved to background.\n\nBackground shell ID: 7",
		want:   running, task: "7"},
	"Crush, a task goes on": {preset: "crush", tool: "job_output", params: `{"shell_id":"7"}`,
		result: "Status: running\n\nbuilding", want: running},
	"Copilot CLI, failure": {preset: "copilot-cli", tool: "bash", params: `{"command":"git log"}`,
		result: "\n<shellId: 51 completed with exit code 128>", want: failed},
	"Copilot CLI, success": {preset: "copilot-cli", tool: "bash", params: `{"command":"x; echo exit: $?"}`,
		result: "exit: 1\n<shellId: 2 completed with exit code 0>", want: success},
	"Copilot CLI, older": {preset: "copilot-cli", tool: "bash", params: `{"command":"make"}`,
		result: "make: *** No targets.\n<exited with exit code 2>", want: failed},
	"Copilot CLI, still running": {preset: "copilot-cli", tool: "bash", params: `{"command":"find /"}`,
		result: "<command with shellId: 27 is still running after 30 seconds. The command is still " +
			"running but hasn't produced " +
			"output yet. Use read_bash to continue waiting, or stop_bash to stop it.>", want: running, task: "27"},
	"Copilot CLI, end": {preset: "copilot-cli", tool: "read_bash", params: `{"shellId":"27","delay":2}`,
		result: "x\n<shellId: 27 completed with exit code 0>", want: success},
	"Copilot CLI, edit": {preset: "copilot-cli", tool: "edit", params: `{"path":"/a","new_str":"x"}`,
		result: "No match found", want: failed},

	"pi, failure": {preset: "pi", tool: "bash", params: `{"command":"grep x packages/tui/src/wrap-ansi.ts"}`,
		result: "grep: packages/tui/src/wrap-ansi.ts: No such file or directory\n\n\nCommand exited with code 2",
		want:   failed},
	"pi, no output": {preset: "pi", tool: "bash", params: `{"command":"false"}`,
		result: "Command exited with code 1",
		want:   failed},
	"pi, aborted": {preset: "pi", tool: "bash", params: `{"command":"npm test"}`,
		result: "Debugger attached.\n\n\nCommand aborted",
		want:   failed},
	"pi, time-out": {preset: "pi", tool: "bash", params: `{"command":"npm test"}`,
		result: "x\n\nCommand timed out after 30 seconds",
		want:   failed},
	"pi, a read file": {preset: "pi", tool: "read", params: `{"path":"/log"}`,
		result: "Error: x\nCommand exited with code 1",
		want:   success},

	"mini-swe-agent, failure": {preset: "mini-swe-agent", tool: "bash", params: `{"command":"patch -p1 < x"}`,
		result: "<returncode>2</returncode>\n<output>\ncan't find file to patch at input line 3\n</output>",
		want:   failed},
	"mini-swe-agent, success": {preset: "mini-swe-agent", tool: "bash", params: `{"command":"cat log"}`,
		result: "<returncode>0</returncode>\n<output>\nCommand exited with code 1\n</output>", want: success},

	"OpenHands, success": {preset: "openhands", tool: "terminal", params: `{"command":"python hello.py"}`,
		result: "Hello, World!\n[The command completed with exit code 0.]\n[Current working directory: /w]\n" +
			"[Python interpreter: /w/.venv/bin/python]\n[Command finished with exit code 0]", want: success},
	"OpenHands, failure": {preset: "openhands", tool: "terminal", params: `{"command":"false"}`,
		result: "[The command completed with exit code 1.]\n[Current working directory: /w]\n[Command " +
			"finished with exit code 1]",
		want: failed},
	"OpenHands, still running": {preset: "openhands", tool: "execute_bash", params: `{"command":"yarn test"}`,
		result: "$ yarn lint\n[The command has no new output after 30 seconds. You may wait longer to see " +
			"additional output by " +
			"sending empty command '', send other commands to interact with the current process, or send keys.]",
		want: running},
	"OpenHands, view": {preset: "openhands", tool: "str_replace_editor",
		params: `{"command":"view","path":"hello.py"}`,
		result: "Invalid `path` parameter: hello.py. The path should be an absolute path, starting with `/`.",
		want:   failed},
	"OpenHands, create": {preset: "openhands", tool: "str_replace_editor",
		params: `{"command":"create","path":"/w/hello.py"}`,
		result: "Ran into [Errno 2] No such file or directory: '/w/hello.py' while trying to write to /w/hello.py",
		want:   failed},

	"SWE-agent, edit": {preset: "swe-agent", tool: "edit", params: `{"search":"x"}`,
		result: "Your proposed edit has introduced new syntax error(s). Please read this error message " +
			"carefully and then retry " +
			"editing the file.\r\n\r\nERRORS:\r\n- E999 IndentationError\n(Current directory: /testbed)\nbash-$",
		want: failed},
	"SWE-agent, a command": {preset: "swe-agent", tool: "bash", params: `{"command":"python reproduce.py"}`,
		result: "Traceback (most recent call last):\n  File \"x.py\"\n(Open file: " +
			"/testbed/x.py)\n(Current directory: /testbed)\nbash-$",
		want: unknown},

	"Cline, commands": {preset: "cline", tool: "run_commands", params: `{"commands":["grep x a"]}`,
		result: `[{"query":"grep x a","result":"","success":false}]`, want: failed},
	"Cline, files": {preset: "cline", tool: "read_files", params: `{"files":[{"path":"/a"}]}`,
		result: `[{"query":"/a","result":"{\"error\":\"x\"}","success":true}]`, want: success},
	"Cline, a refused command": {preset: "cline", tool: "execute_command", params: `{"command":"ls"}`,
		result: "The user denied this operation.", want: failed},
	"a refused command, one": {preset: "claude-code", tool: "Bash", params: `{"command":"cat > a <<E\nE"}`,
		result: "Command rejected by the user", want: unknown},
	"a refused command, two": {preset: "opencode", tool: "bash", params: `{"command":"cat > a <<E\nE"}`,
		result: "This tool call was rejected by the user and not executed.", want: unknown},
	"a refused command, three": {preset: "claude-code", tool: "Bash", params: `{"command":"sed -i s/a/b/ c"}`,
		result: "Permission denied: the user did not approve this command\nAsk before the next one.", want: unknown},
	"a refused command, in an object": {preset: "opencode", tool: "bash", params: `{"command":"rm a"}`,
		result: `{"output":"Execution was blocked: no approval."}`, want: unknown},
	"a command that ran, and speaks of refusals": {preset: "claude-code", tool: "Bash", params: `{"command":"grep -n x a"}`,
		result: strings.Repeat("12: if the user rejects the command, skip it\n", 10), want: success},
	"a command that ran, and says its code": {preset: "codex", tool: "exec_command", params: `{"cmd":"make"}`,
		result: "Exit code: 0\nOutput:\ncommand rejected by the user", want: success},
	"opencode, time-out": {preset: "opencode", tool: "bash", params: `{"command":"pnpm dev","workdir":"/w"}`,
		result: "(no output)\n\n<shell_metadata>\nshell tool terminated command after exceeding timeout " +
			"120000 ms. If this command " +
			"is expected to take longer, retry with a larger timeout value in milliseconds.\n</shell_metadata>",
		want: failed},
	"opencode, edit": {preset: "opencode", tool: "edit", params: `{"filePath":"/a"}`,
		result: "Error: oldString not found in content", want: failed},
	"opencode, edited": {preset: "opencode", tool: "edit", params: `{"filePath":"/a"}`,
		result: "Edit applied successfully.\n\nLSP errors detected in this file, please fix:\n", want: success},
	"opencode, edited by an older one": {preset: "opencode", tool: "edit", params: `{"filePath":"/a"}`,
		result: "\nThis file has errors, please fix\n<file_diagnostics>\nERROR [1:1] x\n</file_diagnostics>\n", want: success},
	"opencode, nothing said": {preset: "opencode", tool: "edit", params: `{"filePath":"/a"}`, want: success},
	"opencode, other words": {preset: "opencode", tool: "write", params: `{"filePath":"/a","content":""}`,
		result: "Waiting for the person.", want: unknown},
	"goose, edited": {preset: "goose", tool: "developer__text_editor", params: `{"command":"str_replace","path":"/a"}`,
		result: "The file /a has been edited, and the section now reads:\n```go\nerror\n```", want: success},
	"goose, other words": {preset: "goose", tool: "developer__edit", params: `{"path":"/a"}`,
		result: "Let the user know the tool call was skipped in Goose chat mode.", want: unknown},
	"amp, failure": {preset: "amp", tool: "Bash", params: `{"cmd":"false"}`, result: `{"output":"","exitCode":1}`,
		want: failed},
	"vscode, edit": {preset: "vscode-copilot", tool: "replace_string_in_file", params: `{"filePath":"/a"}`,
		result: "ERROR while calling tool: Could not find matching text to replace", want: failed},
	"goose, edit": {preset: "goose", tool: "developer__text_editor",
		params: `{"command":"str_replace","path":"/a"}`,
		result: "-32603: No match found for old_str", want: failed},
	"MCP, a file": {preset: "mcp-filesystem", tool: "mcp__filesystem__write_file", params: `{"path":"/a"}`,
		result: "Access denied - path outside allowed directories: /a not in /w", want: failed},

	"pi, a long result": {preset: "pi", tool: "bash", params: `{"command":"make"}`,
		result: strings.Repeat("Exit code: 1, \"é\" \\ \u2028\n", 5000) + "\nCommand exited with code 2", want: failed},
	"mini-swe-agent, a long result": {preset: "mini-swe-agent", tool: "bash", params: `{"command":"make"}`,
		result: "<returncode>0</returncode>\n" + strings.Repeat("\\ \n", 20000) + "Exit code: 1", want: success},
	"a long result without a blank": {tool: "x", result: strings.Repeat("\\", 99999) + "\nExit code: 1", want: failed},

	// A tool of which nothing is known.
	"unknown, error":    {tool: "lookup", result: `{"error":"no such order"}`, want: failed},
	"unknown, no error": {tool: "cancel", result: `{"id":7,"status":"cancelled","error":null}`, want: success},
	"unknown, time-out": {tool: "run", result: "Command timed out after 10 seconds", want: failed},
	"unknown, code":     {tool: "run", result: "x\nExit Code: 3\n", want: failed},

	// What was cut away cannot say any more how the call ended.
	"pruned": {preset: "codex", tool: "exec_command", params: `{"cmd":"make"}`, result: tools.Pruned,
		want: unknown},
	"cut at its end": {preset: "pi", tool: "bash", params: `{"command":"make"}`,
		result: "a\n[… 12 lines omitted]",
		want:   unknown},
	"a line of failure":   {preset: "pi", tool: "bash", result: "[bash: make — error, 12 lines]", want: failed},
	"a line of a success": {preset: "pi", tool: "bash", result: "[bash: make — success, 12 lines]", want: success},
}

func TestJudge(t *testing.T) {
	all := mustPresets(t, tools.PresetNames()...)
	tried := map[string]bool{"mcp-github": true} // it has no files, and a flag
	for name, tt := range judgedResults {
		call := content.ToolCall{ID: "1", Name: tt.tool, Parameters: []byte(tt.params)}
		r := content.ToolResponse{CallID: "1", ToolName: tt.tool}.WithResultText(tt.result)
		want := tools.Verdict{Outcome: tt.want, Task: tt.task}
		if got := all.Judge(call, r); got != want {
			t.Errorf("%s, among all: got %v, want %v", name, got, want)
		}
		if tt.preset == "" {
			continue
		}
		tried[tt.preset] = true
		if got := mustPresets(t, tt.preset).Judge(call, r); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	for _, name := range tools.PresetNames() {
		if !tried[name] {
			t.Errorf("no result of %s is judged", name)
		}
	}
}
