package window_test

import (
	"encoding/json"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/provider/chat"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Results that come after their calls are named by them. Where calls of one id are of several tools, the order tells
// which result is whose, and a name would overrule it.
func TestResultsThatComeLaterAreNamedByTheirCalls(t *testing.T) {
	for name, tt := range map[string]struct{ second, want string }{
		"one tool":  {"read", "read"},
		"two tools": {"write", ""},
	} {
		_, s := sessionOn(t, stores(t)["memory"](t)[0])
		for _, m := range []string{`{"role":"assistant","tool_calls":[` +
			`{"id":"1","type":"function","function":{"name":"read","arguments":"{}"}},` +
			`{"id":"1","type":"function","function":{"name":"` + tt.second + `","arguments":"{}"}}]}`,
			`{"role":"tool","tool_call_id":"1","content":"ok"}`} {
			_, err := s.AddMessages(t.Context(), &chat.Messages, "", nil, []json.RawMessage{json.RawMessage(m)})
			must(t, err, nil)
		}
		h, err := s.HistoryAt(nil)
		must(t, err, nil)
		if got := h.Entries[1].Content.Blocks[0].(content.ToolResponse).ToolName; got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
