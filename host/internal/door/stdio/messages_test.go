package stdio

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
)

// call is a request of the session s.
func call(id int, method, params string) string {
	if params != "" {
		params = "," + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"session":"s"%s}}`+"\n", id, method, params)
}

// reply is what a request gave: a result, or the data of an error. There is no plugin in these tests, so that a prepare
// fails with the history as it is.
type reply struct {
	ID     int
	Result json.RawMessage
	Error  struct {
		Code    int
		Message string
		Data    struct {
			Entry, Part *int
			Prepared    json.RawMessage
		}
	}
}

func replies(t *testing.T, requests ...string) map[int]reply {
	t.Helper()
	out := map[int]reply{}
	input := `{"jsonrpc":"2.0","id":0,"method":"session.open","params":{"id":"s"}}` + "\n" + strings.Join(requests, "")
	for _, line := range lines(t, maxLine, input) {
		var r reply
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		out[r.ID] = r
	}
	return out
}

// same compares JSON by value.
func same(t *testing.T, name string, want, got string) {
	t.Helper()
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%s: %v: %s", name, err, got)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// An agent adds what its provider's library gave, and sends what comes back.
func TestMessagesInTheFormOfAProvider(t *testing.T) {
	for format, c := range map[string]struct{ first, later, system, want string }{
		"anthropic": {
			first: `"system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],` +
				`"messages":[{"role":"user","content":"hi"}]`,
			later: `"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},` +
				`{"type":"tool_use","id":"1","name":"f","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text",` +
				`"text":"a"},{"type":"text","text":"b"}],"cache_control":{"type":"ephemeral"}}]}]`,
			system: `"system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],`,
			want: `[{"role":"user","content":[{"type":"text","text":"hi"}]},` +
				`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},` +
				`{"type":"tool_use","id":"1","name":"f","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text",` +
				`"text":"a"},{"type":"text","text":"b"}],"cache_control":{"type":"ephemeral"}}]}]`,
		},
		"openai-chat": {
			first: `"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}]`,
			later: `"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",` +
				`"function":{"name":"f","arguments":"{ }"}}]},` +
				`{"role":"tool","tool_call_id":"1","content":"a"},{"role":"system","content":"be long"}]`,
			want: `[{"role":"system","content":"be brief"},{"role":"user","content":"hi"},` +
				`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f",` +
				`"arguments":"{ }"}}]},` +
				`{"role":"tool","tool_call_id":"1","content":"a"},{"role":"system","content":"be long"}]`,
		},
		"openai-responses": {
			first: `"instructions":"be brief","messages":[{"type":"message","role":"user","content":"hi"}]`,
			later: `"messages":[{"type":"reasoning","id":"r","summary":[],"encrypted_content":"e"},` +
				`{"type":"function_call","id":"i","call_id":"1","name":"f","arguments":"{}"},` +
				`{"type":"function_call_output","call_id":"1","output":"a"}]`,
			system: `"instructions":"be brief",`,
			want: `[{"type":"message","role":"user","content":"hi"},{"type":"reasoning","id":"r","summary":[],` +
				`"encrypted_content":"e"},` +
				`{"type":"function_call","id":"i","call_id":"1","name":"f","arguments":"{}"},` +
				`{"type":"function_call_output","call_id":"1","output":"a"}]`,
		},
	} {
		form := fmt.Sprintf(`,"format":%q`, format)
		got := replies(t,
			call(1, "history.add", c.first+form), call(2, "history.add", c.later+form),
			call(3, "window.prepare", `"pendingTokens":1`+form), call(4, "session.get", ""))
		var p struct {
			System, Instructions, Messages, History json.RawMessage
			Notes                                   []string
			SystemTokens                            int
		}
		if err := json.Unmarshal(got[3].Error.Data.Prepared, &p); err != nil {
			t.Fatalf("%s: %v: %+v", format, err, got)
		}
		same(t, format, c.want, string(p.Messages))
		if p.History != nil || p.Notes != nil || p.SystemTokens == 0 {
			t.Errorf("%s: %s", format, got[3].Error.Data.Prepared)
		}
		if c.system != "" && !strings.Contains(string(got[3].Error.Data.Prepared), c.system) {
			t.Errorf("%s: %s", format, got[3].Error.Data.Prepared)
		}
		if get := string(got[4].Result); !strings.Contains(get, "be brief") ||
			!strings.Contains(get, fmt.Sprintf(`"systemTokens":%d`, p.SystemTokens)) {
			t.Errorf("%s: %s", format, get)
		}
	}
}

func TestMessagesThatAreRefusedAreNamed(t *testing.T) {
	const add = "history.add"
	got := replies(t,
		call(1, add, `"format":"anthropic","messages":[{"role":"user","content":"a"},`+
			`{"role":"user","content":[{"type":"text","text":"b"},{"type":"tool_result"}]}]`),
		call(2, add, `"format":"openai","messages":[]`),
		call(3, add, `"messages":[{"role":"user","content":"a"}]`),
		call(4, add, `"format":"openai-chat","entries":[]`),
		call(5, add, `"format":"openai-chat","messages":[],"system":"a","instructions":"b"`),
		call(6, "window.prepare", `"format":"native"`),
		call(7, "session.get", ""),
		call(8, "window.prepare", `"since":-1`),
	)
	if e := got[1].Error; e.Data.Entry == nil || *e.Data.Entry != 1 || e.Data.Part == nil || *e.Data.Part != 1 ||
		!strings.Contains(e.Message, "message 1, part 1: a tool_result needs tool_use_id") {
		t.Errorf("%+v", e)
	}
	for id, want := range map[int]string{
		2: "want anthropic, openai-chat or openai-responses", 3: `"format" is missing`,
		4: `"entries" are in the native form`,
		5: `"system" and "instructions" are the same`, 6: "unknown form of messages",
		8: `"since" must be a whole number of at least 0, not number -1`,
	} {
		if e := got[id].Error; e.Code != jsonrpc.CodeParams || !strings.Contains(e.Message, want) {
			t.Errorf("%d: %+v", id, e)
		}
	}
	if !strings.Contains(string(got[7].Result), `"entries":0`) {
		t.Errorf("a refused call added something: %s", got[7].Result)
	}
}

// The system prompt is set, replaced and removed, and is kept apart from the history in every form.
func TestTheSystemPromptOfASession(t *testing.T) {
	got := replies(t,
		call(1, "session.setSystem", `"system":"be brief"`),
		call(2, "window.prepare", `"pendingTokens":0`),
		call(3, "session.setSystem", `"system":[{"type":"text","text":"be long","cache_control":{}}]`),
		call(4, "window.prepare", `"format":"openai-chat"`),
		call(5, "session.setSystem", `"system":[{"type":"image"}]`),
		call(6, "session.setSystem", `"system":null`),
		call(7, "session.get", ""),
	)
	for id, want := range map[int]string{
		2: `"system":[{"type":"text","text":"be brief"}],"history":[]`,
		4: `"messages":[{"role":"system","content":[{"type":"text","text":"be long","cache_control":{}}]}]`,
	} {
		// The first turn fails, because there is no strategy, and shows what is prepared all the same.
		if p := string(got[id].Error.Data.Prepared) + string(got[id].Result); !strings.Contains(p, want) {
			t.Errorf("%d: %s", id, p)
		}
	}
	if !strings.Contains(string(got[1].Result), `{"tokens":`) ||
		!strings.Contains(got[5].Error.Message, "is no text part") ||
		!strings.Contains(string(got[7].Result), `"system":[],"systemTokens":0`) {
		t.Errorf("%+v", got)
	}
	opened := lines(t, maxLine,
		`{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"id":"s","system":"be brief"}}
{"jsonrpc":"2.0","id":2,"method":"session.get","params":{"session":"s"}}
{"jsonrpc":"2.0","id":3,"method":"session.open","params":{"id":"t","system":7}}
{"jsonrpc":"2.0","id":4,"method":"session.get","params":{"session":"t"}}`)
	if all := strings.Join(opened, "\n"); !strings.Contains(all, `"system":[{"type":"text","text":"be brief"}]`) ||
		!strings.Contains(all, "system is 7, neither text") || !strings.Contains(all, `\"t\" is not open`) {
		t.Error(all)
	}
}
