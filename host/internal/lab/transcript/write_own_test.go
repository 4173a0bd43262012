package transcript_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
)

// The API refuses the call of a tool that it ran itself without its result, and the reverse.
func TestToolsThatTheProviderRanAreWrittenWhole(t *testing.T) {
	request := func(blocks ...string) string {
		return `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[` +
			strings.Join(append(blocks, `{"type":"text","text":"so"}`), ",") + `]},{"role":"user","content":"on"}]}`
	}
	const call = `{"type":"server_tool_use","id":"srv_1","name":"x","input":{"q":1}}`
	for _, k := range anthropic.Form.Parts {
		if k.Is != provider.Own || k.ID != "tool_use_id" {
			continue
		}
		call := call
		if k.Type == "mcp_tool_result" {
			call = strings.Replace(call, "server_tool_use", "mcp_tool_use", 1)
		}
		result := fmt.Sprintf(`{"type":%q,"tool_use_id":"srv_1","content":{"type":"x"}}`, k.Type)
		tr := read(t, request(call, result))
		for _, n := range tr.Notes {
			if !n.Routine {
				t.Errorf("%s: %s", k.Type, n)
			}
		}
		if out, notes := write(t, tr, transcript.AnthropicMessages); !strings.Contains(out, call+","+result) {
			t.Errorf("%s: %s\n%q", k.Type, out, notes)
		}
		for _, alone := range []string{call, result} {
			out, notes := write(t, read(t, request(alone)), transcript.AnthropicMessages)
			if strings.Contains(out, alone) || len(notes) != 1 || !strings.Contains(notes[0], "left out") {
				t.Errorf("%s alone: %s\n%q", k.Type, out, notes)
			}
		}
	}
}
