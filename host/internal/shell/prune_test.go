package shell

import (
	"testing"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/prune"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// What becomes of a read of /w/a.go after a command, as a strategy learns of both.
func TestACommandMakesAReadStaleOnlyIfItCertainlyWrote(t *testing.T) {
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		tool, params, result string
		stale                bool
	}{
		"a copy":            {"Bash", `{"command":"cp b.go a.go"}`, "", true},
		"a copy that fails": {"Bash", `{"command":"cp b.go a.go"}`, "Exit code 1\ncp: b.go: No such file", false},
		"a chain":           {"Bash", `{"command":"npm test && echo x > a.go"}`, "ok", true},
		"a chain and more":  {"Bash", `{"command":"npm test && echo x > a.go; echo done"}`, "FAIL\ndone", false},
		"in the background": {"Bash", `{"command":"cp b.go a.go","run_in_background":true}`, "started", false},
		"Codex, still running": {"exec_command", `{"cmd":"cp b.go a.go"}`, "Process running with session ID 5\nOutput:\n",
			false},
		"Gemini CLI, failed": {"run_shell_command", `{"command":"cp b.go a.go"}`,
			"Output: (empty)\nError: (none)\nExit Code: 1\nSignal: (none)", false},
		// Where it ran.
		"opencode, elsewhere":             {"bash", `{"command":"echo x > a.go","workdir":"/elsewhere"}`, "", false},
		"opencode, here":                  {"bash", `{"command":"echo x > a.go","workdir":"/w"}`, "", true},
		"opencode, below":                 {"bash", `{"command":"echo x > ../a.go","workdir":"sub"}`, "", true},
		"Codex, elsewhere":                {"exec_command", `{"cmd":"echo x > a.go","workdir":"/elsewhere"}`, "", false},
		"amp, elsewhere":                  {"Bash", `{"cmd":"echo x > a.go","cwd":"/elsewhere"}`, "", false},
		"Cline, elsewhere":                {"execute_command", `{"command":"echo x > a.go","cwd":"/elsewhere"}`, "", false},
		"Gemini CLI, directory":           {"run_shell_command", `{"command":"echo x > a.go","directory":"sub"}`, "", false},
		"Gemini CLI, dir_path":            {"run_shell_command", `{"command":"echo x > a.go","dir_path":"sub"}`, "", false},
		"Claude Code, elsewhere":          {"Bash", `{"command":"cd /elsewhere && echo x > a.go"}`, "", false},
		"Claude Code, a cd that may fail": {"Bash", `{"command":"cd /elsewhere; echo x > a.go"}`, "", false},
		"Codex, a patch elsewhere": {"exec_command",
			`{"cmd":"apply_patch <<'E'\n*** Begin Patch\n*** Update File: a.go\n*** End Patch\nE","workdir":"/elsewhere"}`,
			"", false},
		"a directory that is none": {"bash", `{"command":"echo x > a.go","workdir":7}`, "", false},
	} {
		history := []content.Content{
			{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: "r", Name: "read_file",
				Parameters: []byte(`{"path":"a.go"}`)}}},
			{Speaker: content.Tool, Blocks: []content.Block{
				content.ToolResponse{CallID: "r", ToolName: "read_file"}.WithResultText("package a")}},
			{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: "w", Name: tt.tool,
				Parameters: []byte(tt.params)}}},
			{Speaker: content.Tool, Blocks: []content.Block{
				content.ToolResponse{CallID: "w", ToolName: tt.tool}.WithResultText(tt.result)}},
		}
		history[2] = Annotated(history[2], taxonomy, Place{})
		in := sdk.OptimizeInput{Call: sdk.Call{History: history, Tools: taxonomy}}
		in.WorkspaceRoot, in.Density = "/w", sdk.DensityConfig{ReadWritePruning: true}
		got, err := prune.Optimize(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if stale := len(got.Removals) > 0; stale != tt.stale {
			t.Errorf("%s: the read is pruned: %v, want %v", name, stale, tt.stale)
		}
	}
}
