package tools_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Every call of recorded sessions is known, apart from the ones named here, and so are the files it touches.
func TestRecordedSessions(t *testing.T) {
	type counts struct {
		Calls, Reads, Writes, Shell int // Reads and Writes: calls with a path
		Unknown                     map[string]int
	}
	tests := map[string]counts{
		"agentv-claude-7a-d2528cc37f-0.json": {Calls: 17, Reads: 3, Writes: 1, Shell: 12},
		"agentv-codex-a5-7b22d8d4bd-0.json": {Calls: 105, Writes: 5, Shell: 93,
			Unknown: map[string]int{"_fetch_pr": 1, "_get_commit_combined_status": 1}},
		"agentv-copilot-26-9e1b9e5502-0.json": {Calls: 68, Reads: 1, Writes: 1, Shell: 66},
		"cipher-box-81-2995ab46e2-3.json":     {Calls: 110, Reads: 29, Writes: 19, Shell: 32},
		"cline-session.messages.json":         {Calls: 11, Reads: 6, Writes: 4, Shell: 1},
		"entireio-cli-37-995ebed6e4-3.json": {Calls: 38, Reads: 9, Writes: 12, Shell: 3, Unknown: map[string]int{
			"mcp__ide__getDiagnostics": 1, "mcp__plugin_entire-engineering_context7__query-docs": 1,
			"mcp__plugin_entire-engineering_context7__resolve-library-id": 1,
		}},
		"entireio-cli-gemini-session-15f05963.json": {Calls: 7, Reads: 3, Writes: 2},
		"mini-swe-agent-github_issue.traj.json":     {Calls: 10, Shell: 10},
		"openhands-completion-claude-sonnet-4.json": {Calls: 6, Reads: 2, Writes: 1, Shell: 2},
		"pi-mono-large-session.json":                {Calls: 391, Reads: 50, Writes: 149, Shell: 192},
		"swe-agent-marshmallow-1867-fc.json":        {Calls: 11, Shell: 4},
	}
	taxonomy := mustPresets(t, tools.PresetNames()...)
	for file, want := range tests {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(repo.Shared(t, "sessions", "normalized", file))
			if err != nil {
				t.Fatal(err)
			}
			var session struct{ History []content.Content }
			if err := json.Unmarshal(data, &session); err != nil {
				t.Fatal(err)
			}
			var got counts
			for _, entry := range session.History {
				for _, b := range entry.Blocks {
					call, ok := b.(content.ToolCall)
					if !ok {
						continue
					}
					got.Calls++
					switch u := taxonomy.Use(call.Name, call.Parameters); {
					case len(u.Reads) > 0:
						got.Reads++
					case len(u.Writes) > 0:
						got.Writes++
					case u.Class == tools.ClassShell:
						got.Shell++
					case u.Class == "":
						if got.Unknown == nil {
							got.Unknown = map[string]int{}
						}
						got.Unknown[call.Name]++
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The answers of recorded writes say whether they happened, in words that are known: none is in doubt that was not cut.
func TestRecordedWritesAreJudged(t *testing.T) {
	type counts struct{ Happened, Failed, Doubtful int }
	want := map[string]counts{"Edit": {87, 7, 0}, "Write": {7, 0, 0}, "apply_patch": {6, 0, 0}, "create": {3, 0, 0},
		"edit": {134, 4, 0}, "editor": {4, 0, 0}, "insert": {1, 0, 0}, "replace": {0, 1, 0}, "str_replace_editor": {0, 1, 0},
		"write": {3, 0, 0}, "write_file": {2, 0, 0}}
	files, err := filepath.Glob(filepath.Join(repo.Shared(t, "sessions", "normalized"), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	taxonomy, got := mustPresets(t, tools.PresetNames()...), map[string]counts{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var session struct{ History []content.Content }
		if err := json.Unmarshal(data, &session); err != nil {
			t.Fatal(err)
		}
		calls := map[string]content.ToolCall{}
		for _, entry := range session.History {
			for _, b := range entry.Blocks {
				switch b := b.(type) {
				case content.ToolCall:
					calls[b.ID] = b
				case content.ToolResponse:
					call := calls[b.CallID]
					if taxonomy.Use(call.Name, call.Parameters).Class != tools.ClassWrite {
						continue
					}
					n := got[call.Name]
					switch taxonomy.Judge(call, b).Outcome {
					case tools.OutcomeSuccess:
						n.Happened++
					case tools.OutcomeError:
						n.Failed++
					default:
						n.Doubtful++
						t.Logf("%s, %s: %.200q", filepath.Base(file), call.Name, b.ResultText())
					}
					got[call.Name] = n
				}
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
