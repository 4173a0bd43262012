package transcript_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Gemini CLI flags no failed command: its exit code stands behind the output.
func TestFailedCommandsOfASample(t *testing.T) {
	tr, err := transcript.ReadFile("../../../../examples/sessions/gemini-cli-ledger.json", transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[tools.Outcome]int{}
	pairs := turns.Pair(tr.Entries)
	for i, e := range tr.Entries {
		for j, b := range e.Blocks {
			r, ok := b.(content.ToolResponse)
			if !ok || r.ToolName != "run_shell_command" {
				continue
			}
			at, _ := pairs.Call(turns.At{Entry: i, Block: j})
			got[taxonomy.Judge(tr.Entries[at.Entry].Blocks[at.Block].(content.ToolCall), r).Outcome]++
		}
	}
	if got[tools.OutcomeError] != 11 || len(got) != 2 {
		t.Errorf("got %v, want 11 errors", got)
	}
}
