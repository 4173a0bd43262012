package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

var noisy = strings.Repeat("warning: deprecated\n", 200) + "done"

const squashedNoise = "warning: deprecated\n[the line above came 199 more times]\ndone"

// conversation is a person's request and n rounds of a command that prints noise.
func conversation(t *testing.T, n int, tool string) []sdk.Content {
	t.Helper()
	history := []sdk.Content{{Speaker: sdk.Human, Blocks: []sdk.Block{sdk.Text{Text: "make the build quiet"}}}}
	for i := range n {
		id := fmt.Sprint("c", i)
		response := sdk.ToolResponse{CallID: id, ToolName: tool}
		call := sdk.ToolCall{ID: id, Name: tool, Parameters: []byte(`{"command":"make"}`)}
		history = append(history,
			sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{call}},
			sdk.Content{Speaker: sdk.Tool, Blocks: []sdk.Block{response.WithResultText(noisy)}})
	}
	return history
}

// results are the texts of all responses.
func results(history []sdk.Content) []string {
	var out []string
	for _, entry := range history {
		for _, block := range entry.Blocks {
			if r, ok := block.(sdk.ToolResponse); ok {
				out = append(out, r.ResultText())
			}
		}
	}
	return out
}

func TestInfo(t *testing.T) {
	t.Parallel()
	sdktest.CheckInfo(t, Strategy{})
}

func TestOptimizeSquashesAllButTheNewestOutputs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool     string
		settings map[string]any
		squashed int
	}{
		"by default":         {"Bash", nil, 2},
		"keep none":          {"Bash", map[string]any{"keepRecent": 0}, 5},
		"keep more than all": {"Bash", map[string]any{"keepRecent": 9}, 0},
		"more repeats":       {"Bash", map[string]any{"minRepeats": 300}, 0},
		"no command":         {"Read", nil, 0},
		"an unknown tool":    {"Teleport", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := sdktest.Optimize(t, Strategy{}, conversation(t, 5, c.tool), sdktest.Config{Settings: c.settings})
			for i, text := range results(got.History) {
				want := noisy
				if i < c.squashed {
					want = squashedNoise
				}
				if text != want {
					t.Errorf("output %d: %.80q", i, text)
				}
			}
			if len(got.Replacements) != c.squashed || len(got.Removals) != 0 {
				t.Errorf("%d entries replaced and %d removed", len(got.Replacements), len(got.Removals))
			}
		})
	}
}

func TestOptimizeLeavesWhatItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	history, err := sdktest.ParseHistory([]byte(`[
		{"speaker": "tool", "blocks": [
			{"type": "tool_response", "callId": "gone", "toolName": "Bash", "result": "x\nx\nx\nx\nx\nx\nx"}]},
		{"speaker": "ai", "blocks": [
			{"type": "tool_call", "id": "1", "name": "Bash", "parameters": {"command": "a"}},
			{"type": "hologram", "beam": 1},
			{"type": "tool_call", "id": "2", "name": "Bash"}]},
		{"speaker": "tool", "blocks": [
			{"type": "tool_response", "callId": "1", "toolName": "Bash",
				"result": {"stdout": "x\nx\nx\nx\nx\nx\nx\nx\nx"}},
			{"type": "tool_response", "callId": "2", "toolName": "Bash", "error": "no such file"}]}
	]`))
	if err != nil {
		t.Fatal(err)
	}
	got := sdktest.Optimize(t, Strategy{}, history, sdktest.Config{Settings: map[string]any{"keepRecent": 0}})
	if len(got.Replacements) != 0 {
		t.Errorf("replaced %v", got.Replacements)
	}
}

func TestCompressSquashesFirst(t *testing.T) {
	t.Parallel()
	got := sdktest.Compress(t, Strategy{}, conversation(t, 5, "Bash"), sdktest.Config{ContextLimit: 2000})
	if len(got.History) != 11 || got.Metadata.TargetMissed || got.Metadata.Counts["outputsSquashed"] != 5 {
		t.Errorf("%d entries, %+v", len(got.History), got.Metadata)
	}
}

func TestCompressThenDropsTheOldestButNotWhatPeopleSaid(t *testing.T) {
	t.Parallel()
	c := sdktest.Config{Counter: sdktest.Words, ContextLimit: 200}
	got := sdktest.Compress(t, Strategy{}, conversation(t, 20, "Bash"), c)
	if float64(got.TokensAfter) > 0.85*200*sdk.TargetShare || got.Metadata.TargetMissed {
		t.Errorf("%d tokens are left, %+v", got.TokensAfter, got.Metadata)
	}
	if got.History[0].Speaker != sdk.Human || len(got.History) < 3 || got.Metadata.Counts["entriesDropped"] == 0 {
		t.Errorf("%d entries, %+v", len(got.History), got.Metadata)
	}
}

func TestCompressHasNothingToDo(t *testing.T) {
	t.Parallel()
	talk := []sdk.Content{{Speaker: sdk.Human, Blocks: []sdk.Block{sdk.Text{Text: strings.Repeat("word ", 1000)}}}}
	for name, c := range map[string]struct {
		history []sdk.Content
		want    sdk.NoOpReason
	}{
		"no history": {nil, sdk.NoOpEmptyHistory},
		"only talk":  {talk, sdk.NoOpNoGain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := sdktest.Compress(t, Strategy{}, c.history,
				sdktest.Config{ContextLimit: 100}); got.NoOp != c.want {
				t.Errorf("no-op %q, want %q", got.NoOp, c.want)
			}
		})
	}
}

func TestACallThatWasEndedStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := sdktest.Config{}.Optimize(ctx, Strategy{}, conversation(t, 5, "Bash"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
