package prepare_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/shell"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// A strategy learns where a command begins, also when the call that led there was pruned.
func TestADirectoryOutlivesTheCallThatChangedIt(t *testing.T) {
	taxonomy, err := tools.ForPresets([]string{"claude-code"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	bash := func(id, command string) []content.Content {
		return []content.Content{
			{Speaker: content.AI, Blocks: []content.Block{
				content.ToolCall{ID: id, Name: "Bash", Parameters: []byte(`{"command":"` + command + `"}`)}}},
			{Speaker: content.Tool, Blocks: []content.Block{
				content.ToolResponse{CallID: id, ToolName: "Bash"}.WithResultText("ok")}},
		}
	}
	var last shell.Place
	f := newFixture(1, &scripted{mode: sdk.ModeContinuous,
		optimize: func(c prepare.OptimizeCall) ([]rewrite.Edit, error) {
			last = c.Dirs.At(c.Entries[len(c.Entries)-2].ID)
			if len(c.Entries) != 3 {
				return nil, nil
			}
			return []rewrite.Edit{{Index: 1, Remove: true}, {Index: 2, Remove: true}}, nil
		}})
	f.req.Settings.ContextLimit, f.req.Settings.Tools = 1000, taxonomy
	add(f.history, bash("1", "cd /w/sub"))
	f.prepare(t)
	if now := f.history.Snapshot(); len(now.Entries) != 1 {
		t.Fatalf("%d entries are left", len(now.Entries))
	}
	add(f.history, bash("2", "sed -i s/a/b/ a.go"))
	add(f.history, bash("3", "ls"))
	f.prepare(t)
	if want := (shell.Place{Dir: "/w/sub"}); last != want {
		t.Errorf("it begins at %+v, want %+v", last, want)
	}
}
