package sdk_test

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// newestStatus keeps only the newest result of a tool that its user names: a continuous strategy with a setting.
type newestStatus struct{}

func (newestStatus) Info() sdk.Info {
	return sdk.Info{
		Name: "newest-status", Version: "0.1.0", Trigger: sdk.Continuous(0.85),
		Config: []sdk.ConfigField{{
			Key: "tool", Type: sdk.String, Default: "git_status",
			Description: "the tool of which only the newest result counts",
		}},
	}
}

func (newestStatus) Compress(context.Context, sdk.Host, sdk.CompressInput) (sdk.CompressResult, error) {
	return sdk.NoOp(sdk.NoOpNoGain), nil // all that it can do was done by Optimize
}

func (newestStatus) Optimize(_ context.Context, in sdk.OptimizeInput) (sdk.DensityResult, error) {
	var settings struct{ Tool string }
	if err := in.Config.Decode(&settings); err != nil {
		return sdk.DensityResult{}, err
	}
	out := sdk.DensityResult{Replacements: map[int]sdk.Content{}, Reasons: map[int]sdk.Reason{}}
	newest := -1
	for i := len(in.History) - 1; i >= 0; i-- {
		entry := in.History[i]
		for j, block := range entry.Blocks {
			r, ok := block.(sdk.ToolResponse)
			if !ok || r.ToolName != settings.Tool || r.ResultText() == "[older]" {
				continue
			}
			if newest < 0 {
				newest = i
				continue
			}
			entry.Blocks = append([]sdk.Block{}, entry.Blocks...) // what the host gave is never changed
			entry.Blocks[j] = r.WithResultText("[older]")
			out.Replacements[i], out.Reasons[i] = entry, sdk.Reason{Rule: "older-status", SupersededBy: &newest}
		}
	}
	return out, nil
}

// An Optimizer returns edits: which entries go, and what stands in the place of others. A setting that its Info declares
// is checked by the host, and arrives with its default.
func ExampleOptimizer() {
	status := func(id, text string) []sdk.Content {
		return []sdk.Content{
			{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.ToolCall{ID: id, Name: "git_status"}}},
			{Speaker: sdk.Tool, Blocks: []sdk.Block{
				sdk.ToolResponse{CallID: id, ToolName: "git_status"}.WithResultText(text)}},
		}
	}
	history := append(status("1", "3 files changed"), status("2", "nothing to commit")...)
	got, err := sdktest.Config{}.Optimize(context.Background(), newestStatus{}, history)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, entry := range got.History {
		if r, ok := entry.Blocks[0].(sdk.ToolResponse); ok {
			fmt.Println(r.CallID, r.ResultText())
		}
	}
	// Output:
	// 1 [older]
	// 2 nothing to commit
}

// A strategy need not know the names of tools: the taxonomy says what a call reads, writes and runs, and how it ended.
func ExampleCall() {
	call := sdk.ToolCall{ID: "1", Name: "Bash", Parameters: []byte(`{"command":"go test ./..."}`)}
	response := sdk.ToolResponse{CallID: "1", ToolName: "Bash"}.WithResultText("Exit code 1\nFAIL")
	history := []sdk.Content{
		{Speaker: sdk.AI, Blocks: []sdk.Block{call}},
		{Speaker: sdk.Tool, Blocks: []sdk.Block{response}},
	}
	inspect := inspector(func(in sdk.CompressInput) {
		use := in.Tools.Use(call.Name, call.Parameters)
		fmt.Println(use.Command, "—", in.Tools.Judge(call, response).Outcome)
	})
	if _, err := (sdktest.Config{}).Compress(context.Background(), inspect, history); err != nil {
		fmt.Println(err)
	}
	// Output: go test ./... — error
}

// inspector is a strategy that looks and changes nothing.
type inspector func(sdk.CompressInput)

func (inspector) Info() sdk.Info {
	return sdk.Info{Name: "inspector", Version: "0.1.0", Trigger: sdk.Threshold(0.85)}
}

func (f inspector) Compress(_ context.Context, _ sdk.Host, in sdk.CompressInput) (sdk.CompressResult, error) {
	f(in)
	return sdk.NoOp(sdk.NoOpNoGain), nil
}
