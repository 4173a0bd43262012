package transcript_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/sdk/content"
)

// One message may hold several calls with one id. Results that do not name their tool answer them in their order, so
// each result gets the name of its own call, and keeps its call when it is written again.
func TestEqualIDsInOneMessage(t *testing.T) {
	formats := map[string]string{
		"anthropic": `{"messages":[
{"role":"user","content":"go"},
{"role":"assistant","content":[
{"type":"tool_use","id":"1","name":"Read","input":{"file_path":"b"}},
{"type":"tool_use","id":"1","name":"Write","input":{"file_path":"c"}}]},
{"role":"user","content":[
{"type":"tool_result","tool_use_id":"1","content":"BBB"},
{"type":"tool_result","tool_use_id":"1","content":"done"}]}]}`,
		"openai": `{"messages":[
{"role":"user","content":"go"},
{"role":"assistant","content":null,"tool_calls":[
{"id":"1","type":"function","function":{"name":"Read","arguments":"{\"file_path\":\"b\"}"}},
{"id":"1","type":"function","function":{"name":"Write","arguments":"{\"file_path\":\"c\"}"}}]},
{"role":"tool","tool_call_id":"1","content":"BBB"},
{"role":"tool","tool_call_id":"1","content":"done"}]}`,
	}
	for name, in := range formats {
		t.Run(name, func(t *testing.T) {
			tr := read(t, in)
			var got []string
			for _, c := range tr.Entries {
				for _, b := range c.Blocks {
					if r, ok := b.(content.ToolResponse); ok {
						got = append(got, r.ToolName+": "+r.ResultText())
					}
				}
			}
			if diff := cmp.Diff([]string{"Read: BBB", "Write: done"}, got); diff != "" {
				t.Error(diff)
			}
			out, _ := write(t, tr, transcript.OpenAIChat)
			_, tail, _ := strings.Cut(out, `{"role":"tool"`)
			if diff := cmp.Diff(`,"tool_call_id":"1","content":"BBB"},
{"role":"tool","tool_call_id":"1_2","content":"done"}
]}
`, tail); diff != "" {
				t.Error(diff)
			}
		})
	}
}
