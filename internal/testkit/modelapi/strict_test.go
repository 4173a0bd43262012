package modelapi

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The server refuses what the real ones refuse, in their words.
func TestWhatIsRefused(t *testing.T) {
	s := New(Options{ContextLimit: 2000})
	defer s.Close()
	signed := s.issue("hm")
	s.issued["enc"], s.follows["rs1"] = "rs1", "fc1"
	use := `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"x","input":{}}]}`
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}`
	user := `{"role":"user","content":"x"}`
	mark := `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
	calls := `{"role":"assistant","content":null,"tool_calls":[{"id":"t1","function":{"name":"x"}}]}`
	reasoning := `{"type":"reasoning","id":"rs1","summary":[],"encrypted_content":"enc"}`
	for name, tt := range map[string]struct{ path, items, want string }{
		"a pair":             {"/v1/messages", user + "," + use + "," + result, ""},
		"a result is absent": {"/v1/messages", user + "," + use + "," + user, "without `tool_result` blocks immediately after: t1"},
		"a call is absent":   {"/v1/messages", user + "," + result, "unexpected `tool_use_id`"},
		"the model begins":   {"/v1/messages", use + "," + result, `first message must use the \"user\" role`},
		"five markers": {"/v1/messages", `{"role":"user","content":[` + strings.Repeat(mark+",", 4) + mark + `]}`,
			"A maximum of 4 blocks with cache_control"},
		"an issued signature": {"/v1/messages", user + `,{"role":"assistant","content":[{"type":"thinking","thinking":"hm",` +
			`"signature":"` + signed + `"},{"type":"text","text":"x"}]}`, ""},
		"another's signature": {"/v1/messages", user + `,{"role":"assistant","content":[{"type":"thinking","thinking":"no",` +
			`"signature":"` + signed + `"},{"type":"text","text":"x"}]}`, "Invalid `signature`"},
		"blank content":   {"/v1/messages", `{"role":"user","content":" "}`, "must contain non-whitespace text"},
		"chat, blank":     {"/v1/chat/completions", `{"role":"user","content":" "}`, "Invalid value for 'content'"},
		"chat, no text":   {"/v1/chat/completions", `{"role":"user","content":5}`, "Invalid value for 'content'"},
		"chat, a role":    {"/v1/chat/completions", `{"role":"ai","content":"x"}`, "Invalid value: 'ai'"},
		"empty content":   {"/v1/messages", `{"role":"user","content":[]}`, "non-empty content"},
		"a long prompt":   {"/v1/messages", `{"role":"user","content":"` + strings.Repeat("long ", 2000) + `"}`, "prompt is too long"},
		"chat":            {"/v1/chat/completions", user + "," + calls + `,{"role":"tool","tool_call_id":"t1","content":"x"}`, ""},
		"chat unanswered": {"/v1/chat/completions", user + "," + calls + "," + user, "must be followed by tool messages"},
		"chat orphan":     {"/v1/chat/completions", user + `,{"role":"tool","tool_call_id":"t1","content":"x"}`, "preceeding message"},
		"responses without output": {"/v1/responses", user + `,{"type":"function_call","call_id":"t1","name":"x"}`,
			"No tool output found for function call t1"},
		"responses without call": {"/v1/responses", user + `,{"type":"function_call_output","call_id":"t1","output":"x"}`,
			"No tool call found"},
		"reasoning alone": {"/v1/responses", user + "," + reasoning + "," + user, "without its required following item"},
		"a call without its reasoning": {"/v1/responses", user + `,{"type":"function_call","id":"fc1","call_id":"t1","name":"x"},` +
			`{"type":"function_call_output","call_id":"t1","output":"x"}`, "without its required 'reasoning' item"},
		"reasoning of another": {"/v1/responses", user + "," + strings.Replace(reasoning, "rs1", "rs2", 1) + "," + user,
			"could not be verified"},
		"gemini without response": {"/v1beta/models/m:generateContent", `{"role":"user","parts":[{"text":"x"}]},` +
			`{"role":"model","parts":[{"functionCall":{"name":"x","args":{}},"thoughtSignature":"` + s.issue("{}") +
			`"}]},{"role":"user","parts":[{"text":"x"}]}`, "number of function response parts"},
		"gemini without signature": {"/v1beta/models/m:generateContent", `{"role":"user","parts":[{"text":"x"}]},` +
			`{"role":"model","parts":[{"functionCall":{"name":"x","args":{}}}]}`, "missing a thought_signature"},
	} {
		list := map[string]string{"/v1/responses": "input", "/v1beta/models/m:generateContent": "contents"}[tt.path]
		if list == "" {
			list = "messages"
		}
		res, err := http.Post(s.URL+tt.path, "application/json",
			strings.NewReader(`{"model":"m","max_tokens":1,"`+list+`":[`+tt.items+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if ok := res.StatusCode == http.StatusOK; ok != (tt.want == "") || !strings.Contains(string(answer), tt.want) {
			t.Errorf("%s: %d %s", name, res.StatusCode, answer)
		}
	}
}

// A turn that no tool of the agent can do is passed over, and the turn after it is done once.
func TestATurnIsDoneOnce(t *testing.T) {
	s := New(Options{Script: []Turn{{Find()}, {Read("a")}}})
	defer s.Close()
	for said, want := range []string{"read_file", "All done"} {
		res, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(fmt.Sprintf(
			`{"model":"m","messages":[{"role":"user","content":"%d"}],"tools":[{"type":"function","function":{"name":"read_file"}}]}`, said)))
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if !strings.Contains(string(answer), want) {
			t.Errorf("request %d is answered with %s", said, answer)
		}
	}
}

// What was sent before is in the cache as far as it is the same: up to the last marker, or without markers all of it.
func TestTheCache(t *testing.T) {
	c := cache{known: map[[32]byte]bool{}}
	a, b, marked := segment{text: make([]byte, 40)}, segment{text: make([]byte, 80)}, segment{make([]byte, 40), true}
	for i, tt := range []struct {
		prompt         []segment
		auto           bool
		input, hit, in int
	}{
		{[]segment{a, b}, false, 30, 0, 0},
		{[]segment{marked, b}, false, 20, 0, 10},
		{[]segment{a, b}, false, 20, 10, 0}, // the marker is no part of what is cached
		{[]segment{a, b}, true, 20, 10, 0},
		{[]segment{a, b, a}, true, 10, 30, 0},
		{[]segment{b, a}, true, 30, 0, 0},
	} {
		if input, hit, in := c.request("", tt.prompt, tt.auto); input != tt.input || hit != tt.hit || in != tt.in {
			t.Errorf("%d: %d %d %d", i, input, hit, in)
		}
	}
}
