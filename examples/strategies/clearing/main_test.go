package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/prune"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	sdktest.Conformance(t, Strategy{}, sdktest.Config{})
}

func TestOldResultsAreCleared(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of output\n", 50)
	history := []sdk.Content{{Speaker: sdk.Human, Blocks: []sdk.Block{sdk.Text{Text: "Go."}}}}
	for i := range 6 {
		id, result := fmt.Sprint("c", i), long
		if i == 1 {
			result = "ok"
		}
		history = append(history,
			sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Text{Text: "I look."}, sdk.ToolCall{ID: id, Name: "ls"}}},
			sdk.Content{Speaker: sdk.Tool, Blocks: []sdk.Block{sdk.ToolResponse{CallID: id, ToolName: "ls"}.
				WithResultText(result)}})
	}
	for name, tt := range map[string]struct {
		settings map[string]any
		want     string
	}{
		"by default": {nil, "_ok_LLL"},
		"keep none":  {map[string]any{"keep": 0}, "_ok____"},
		"keep all":   {map[string]any{"keep": 9}, "LokLLLL"},
	} {
		config := sdktest.Config{Settings: tt.settings, ContextLimit: 600, Reason: sdk.ReasonManual}
		got := ""
		for i, entry := range sdktest.Compress(t, Strategy{}, history, config).History {
			r, ok := entry.Blocks[0].(sdk.ToolResponse)
			switch {
			case !ok && !entry.Equal(history[i]):
				t.Errorf("%s: entry %d changed", name, i)
			case ok:
				got += strings.NewReplacer(long, "L", prune.Pointer, "_").Replace(r.ResultText())
			}
		}
		if got != tt.want {
			t.Errorf("%s: left %q, want %q", name, got, tt.want)
		}
	}
}
