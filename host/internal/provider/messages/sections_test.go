package messages_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/sdk/content"
)

// A conversation with instructions wherever the Messages API takes them.
const sectioned = `{"role":"system","content":[],"output_config":{"effort":"high"}}
	{"role":"user","content":"fix it"}
	{"role":"system","content":"be brief","clear_at":"never"}
	{"role":"system","content":[],"output_config":{"effort":"low"}}
	{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}]}
	{"role":"system","content":[{"type":"text","text":"be quick","cache_control":{"type":"ephemeral"}}]}
	{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]}
	{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"out"}]}
	{"role":"system","content":[{"type":"tool_removal","tool":{"type":"tool_reference","name":"f"}}]}
	{"role":"assistant","content":"done"}
	{"role":"system","content":[],"output_config":{"effort":"max"}}
	{"role":"user","content":"and then?"}
	{"role":"system","content":"be kind"}`

// Instructions come back as they were added, and whatever else a view lacks, they are the same and stand where the API
// takes them.
func TestInstructionsWithinMessages(t *testing.T) {
	comesBack(t, &anthropic.Messages, lines(sectioned))
	parsed, err := messages.Parse(&anthropic.Messages, messages.Before{}, lines(sectioned))
	if err != nil {
		t.Fatal(err)
	}
	var instructions []string
	whole := messages.Render(&anthropic.Messages, parsed.System, parsed.Entries, true)
	for _, m := range whole.Messages {
		if strings.Contains(string(m), `"role":"system"`) {
			instructions = append(instructions, string(m))
		}
	}
	for mask := range 1 << len(parsed.Entries) {
		var some []content.Content
		for i, c := range parsed.Entries {
			if c.Pinned() || mask>>i&1 == 1 {
				some = append(some, c)
			}
		}
		got, left := messages.Render(&anthropic.Messages, parsed.System, some, true).Messages, instructions
		type message struct {
			Role    string
			Content []struct{ Type string }
		}
		var all []message
		for _, raw := range got {
			var m message
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			if all = append(all, m); m.Role == messages.System {
				if len(left) == 0 || string(raw) != left[0] {
					t.Fatalf("%s is not as it was", raw)
				}
				left = left[1:]
			}
		}
		if len(left) > 0 {
			t.Errorf("%d instructions are gone", len(left))
		}
		for i := 0; i < len(all); i++ {
			from, says, tools := i, false, false
			for ; i < len(all) && all[i].Role == messages.System; i++ {
				says = says || len(all[i].Content) > 0
				tools = tools || len(all[i].Content) > 0 && all[i].Content[0].Type == "tool_removal"
			}
			if !says {
				continue
			}
			last := from > 0 && all[from-1].Role == messages.Assistant && !tools &&
				all[from-1].Content[len(all[from-1].Content)-1].Type == "web_search_tool_result"
			if from == 0 || all[from-1].Role != messages.User && !last || i < len(all) && all[i].Role != messages.Assistant {
				t.Fatalf("message %d stands where the API takes none:\n%s", from, got)
			}
		}
	}
}
