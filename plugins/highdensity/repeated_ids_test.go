package highdensity

import (
	"encoding/json"
	"testing"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// Calls of one entry may have one id. Which of them go, and whose result becomes a pointer, is not told by it.
func TestCallsOfOneEntryWithOneID(t *testing.T) {
	calls := func(tools ...string) sdk.Content {
		c := sdk.Content{Speaker: sdk.AI}
		for _, tool := range tools {
			c.Blocks = append(c.Blocks, sdk.ToolCall{ID: "1", Name: tool, Parameters: json.RawMessage(`{"file_path":"a.go"}`)})
		}
		return c
	}
	results := func(failure string, tools ...string) sdk.Content {
		c := sdk.Content{Speaker: sdk.Tool}
		for _, tool := range tools {
			c.Blocks = append(c.Blocks, sdk.ToolResponse{CallID: "1", ToolName: tool, Result: json.RawMessage("null"),
				Error: failure})
		}
		return c
	}
	const read, write = "read_file", "write_file"
	for name, test := range map[string]struct {
		history []sdk.Content
		pruned  []int // the entries that the answer changes
	}{
		"a read goes, and the write behind it has a pointer": {[]sdk.Content{
			calls(read, write, read), results("exit status 1", read, write), said(sdk.Human, "go on"),
			calls(write, read), results("", write)}, []int{0, 1}},
		"a read goes, and one of two equal writes has a pointer": {[]sdk.Content{
			calls(read, write, write), results("", read, write, write), said(sdk.Human, "go on"),
			calls("replace"), results("", "replace")}, []int{0, 1}},
		"one of two equal writes has a pointer": {[]sdk.Content{
			calls(read, write, write), results("", read, write, write), said(sdk.Human, "go on")}, []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := sdktest.Config{Density: &sdk.DensityConfig{ReadWritePruning: true, RecencyPruning: true,
				RecencyRetention: 1}}.Optimize(t.Context(), Strategy{}, test.history)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range test.pruned {
				if got.History[i].Equal(test.history[i]) {
					t.Errorf("entry %d is as it was", i)
				}
			}
		})
	}
}
