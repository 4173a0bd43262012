package prune

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// command is a call of a shell tool that certainly writes a.go if it succeeds, as the host says, and its answer.
func command(id, tool, params, result string) []sdk.Content {
	entry := call(id, tool, params)
	c := entry.Blocks[0].(sdk.ToolCall)
	c.Extra = c.Extra.With(content.Field{Name: tools.FilesField, Value: []byte(`{"writes":[{"path":"a.go"}]}`)})
	entry.Blocks[0] = c
	return []sdk.Content{entry, answer(id, tool, result)}
}

func TestWritesOfCommands(t *testing.T) {
	read := exchange("r", "read_file", "a.go")
	bash := func(result string) []sdk.Content { return command("w", "Bash", `{"command":"cp b.go a.go"}`, result) }
	codex := func(result string) []sdk.Content {
		return command("w", "exec_command", `{"cmd":"cp b.go a.go"}`, result)
	}
	poll := func(session int, result string) []sdk.Content {
		return []sdk.Content{call("p", "write_stdin", fmt.Sprintf(`{"session_id":%d}`, session)),
			answer("p", "write_stdin", result)}
	}
	const runs, ends = "Wall time: 10 seconds\nProcess running with session ID 5\nOutput:\n",
		"Wall time: 1 seconds\nProcess exited with code 0\nOutput:\n"
	background := command("w", "Bash", `{"command":"cp b.go a.go","run_in_background":true}`,
		"Command running in background with ID: b1. Output is being written to: /tmp/b1.output.")
	task := func(result string) []sdk.Content {
		return []sdk.Content{call("p", "TaskOutput", `{"task_id":"b1"}`), answer("p", "TaskOutput", result)}
	}
	interrupted := bash("")
	interrupted[1].Blocks[0] = sdk.ToolResponse{CallID: "w", ToolName: "Bash",
		Result: []byte(`{"stdout":"","interrupted":true}`)}
	for name, tt := range map[string]struct {
		history []sdk.Content
		stale   bool
	}{
		"a success":            {join(read, bash("ok")), true},
		"an exit code":         {join(read, bash("Exit code 1\ncp: b.go: No such file")), false},
		"a tag":                {join(read, bash("<tool_use_error>denied</tool_use_error>")), false},
		"a time-out":           {join(read, bash("Command timed out after 2m 0.0s")), false},
		"interrupted":          {join(read, interrupted), false},
		"Gemini's exit code":   {join(read, command("w", "run_shell_command", `{"command":"cp b.go a.go"}`, "Output: x\nError: (none)\nExit Code: 1\nSignal: (none)\nBackground PIDs: (none)")), false},
		"it runs":              {join(read, codex(runs)), false},
		"its end is seen":      {join(read, codex(runs), poll(5, ends)), true},
		"its end, later":       {join(read, codex(runs), poll(5, runs), poll(5, ends)), true},
		"the end of another":   {join(read, codex(runs), poll(6, ends)), false},
		"its end is a failure": {join(read, codex(runs), poll(5, "Process exited with code 1\nOutput:\n")), false},
		"read while it ran":    {join(codex(runs), read, poll(5, ends)), false},
		"in the background":    {join(read, background), false},
		"the background ends": {join(read, background,
			task("<status>completed</status>\n\n<exit_code>0</exit_code>\n")), true},
		"the background goes on":        {join(read, background, task("<status>running</status>\n")), false},
		"the background ended, no code": {join(read, background, task("<status>killed</status>\n")), false},
		"cut to a line":                 {join(read, bash("[Bash: cp b.go a.go — error, 2 lines]")), false},
		"its end was cut away":          {join(read, bash("x\n[… 3 lines omitted]")), false},
	} {
		got := sdktest.Optimize(t, strategy{}, tt.history,
			sdktest.Config{Density: &sdk.DensityConfig{ReadWritePruning: true}})
		if stale := got.Metadata.ReadWritePairsPruned == 1; stale != tt.stale {
			t.Errorf("%s: the read is pruned: %v, want %v", name, stale, tt.stale)
		}
	}
}

// A result that says that a write failed, or has not ended, is never replaced by the pointer: from then on the write
// would count.
func TestAFailedWriteStaysFailed(t *testing.T) {
	failed := command("w", "Bash", `{"command":"cp b.go a.go"}`, "Exit code 1\ncp: b.go: No such file")
	history := join(exchange("r", "read_file", "a.go"), failed,
		command("w", "Bash", `{"command":"true"}`, "Exit code 2"), exchange("w", "Edit", "b.go"))
	flagged := exchange("f", "Write", "a.go")
	flagged[1].Blocks[0] = sdk.ToolResponse{CallID: "f", ToolName: "Write", Error: "denied"}.WithResultText(Pointer)
	history = append(join(history, flagged), said(sdk.Human, "next"))
	c := sdktest.Config{Density: &sdk.DensityConfig{
		ReadWritePruning: true, RecencyPruning: true, RecencyRetention: 1}}
	got := sdktest.Optimize(t, strategy{}, history, c)
	if d := cmp.Diff(history, got.History, cmp.Comparer(sdk.Content.Equal)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
