package tools_test

import (
	"strings"
	"testing"

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
		"Codex sign far below":        {"exec_command", strings.Repeat("x\n", 10) + "Exit code: 1\n", false},
		"Codex sign far to the right": {"exec_command", strings.Repeat("x", 5000) + "\nExit code: 1\n", false},
		"Codex refused": {"apply_patch", "apply_patch verification failed: Failed to find expected lines",
			true},
		"Codex JSON failure": {"apply_patch",
			`{"output":"{\"metadata\":0","metadata":{"exit_code":1,"duration_seconds":0.1}}`, true},
		"Codex JSON success": {"shell", `{"output":"\"exit_code\":1","metadata":{"exit_code":0}}`, false},
		"Codex JSON cut off": {"shell", `{"metadata":{"exit_code":1}`, false},
		"mini-swe-agent success": {"bash", "<returncode>0</returncode>\n<output>\n<returncode>1</returncode></output>",
			false},
		"mini-swe-agent failure": {"bash", "<returncode>2</returncode>\n<output>\n</output>", true},
		"Cline failure":          {"editor", `{"query":"edit:a","result":"","success":false}`, true},
		"Cline success":          {"editor", `{"query":"edit:a","result":"","success":true}`, false},
		"OpenHands refusal":      {"str_replace_editor", "Invalid `path` parameter: a.", true},
		"OpenHands success":      {"str_replace_editor", "The file /w/a has been edited.", false},
		"Claude Code has a flag": {"Edit", "Error: something", false},
		"sign of another tool":   {"Read", "Exit code: 1\n", false},
		"unknown tool":           {"x", "Exit code: 1\n", false},
		"nothing":                {"bash", "", false},
	}
	taxonomy := mustPresets(t, tools.PresetNames()...)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := taxonomy.Failed(tt.tool, tt.result); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
