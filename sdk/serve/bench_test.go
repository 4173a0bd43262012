package serve_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk"
)

// Sends a history to a real process whose Optimize does nothing: what the transport and the SDK cost.
func BenchmarkOptimizeCall(b *testing.B) {
	p := configured(b, nil)
	for _, n := range []int{50, 500, 5000} {
		history := make([]sdk.Content, n)
		bytes := 0
		for i := range history {
			history[i] = sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{
				sdk.Text{Text: strings.Repeat("let me look at this ", 8)},
				sdk.ToolCall{ID: fmt.Sprint("call-", i), Name: "read_file",
					Parameters: json.RawMessage(`{"path":"src/main.go"}`)},
			}}
			if i%2 == 1 {
				result, _ := json.Marshal(strings.Repeat("x := compute(a, b) // line\n", 55))
				history[i] = sdk.Content{Speaker: sdk.Tool, Blocks: []sdk.Block{
					sdk.ToolResponse{CallID: fmt.Sprint("call-", i-1), ToolName: "read_file", Result: result},
				}}
			}
			bytes += len(history[i].AppendJSON(nil))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(bytes))
			for b.Loop() {
				if _, _, err := p.optimize(b.Context(), header("nothing"), history); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
