package main_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestAnAgentThatKnowsOnlyItsProvidersForm: what it adds comes back equal as long as nothing is pruned, what a strategy
// pruned comes back smaller, and the system prompt stays whatever happens.
func TestAnAgentThatKnowsOnlyItsProvidersForm(t *testing.T) {
	t.Parallel()
	a := newPlace(t).serve("--strategy", "high-density")
	a.open("s", nil)
	type request struct {
		Messages []any
		Tokens   int
	}
	var sent []any
	add := func(messages string) {
		t.Helper()
		var list []any
		if err := json.Unmarshal([]byte(messages), &list); err != nil {
			t.Fatal(err)
		}
		sent = append(sent, list...)
		a.call("history.add", object{"session": "s", "format": "openai-chat", "messages": list}, nil)
	}
	prepare := func() (r request) {
		t.Helper()
		a.call("window.prepare", object{"session": "s", "format": "openai-chat"}, &r)
		return r
	}
	read := func(id string) string {
		return fmt.Sprintf(`[{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function",`+
			`"function":{"name":"read_file","arguments":"{\"file_path\": \"/w/a.go\"}"},`+
			`"extra_content":{"signature":"s"}}]},`+
			`{"role":"tool","tool_call_id":%q,"content":[{"type":"text","text":%q}]}]`, id, id,
			strings.Repeat("line\n", 200))
	}
	add(`[{"role":"system","content":"You fix bugs."},{"role":"user","content":[{"type":"text","text":"fix a.go",` +
		`"cache_control":{"type":"ephemeral"}}]}]`)
	add(read("c1"))
	before := prepare()
	if !reflect.DeepEqual(before.Messages, sent) {
		t.Errorf("came back changed:\n%v\nwas\n%v", before.Messages, sent)
	}
	add(`[{"role":"assistant","content":null,"tool_calls":[{"id":"c2","type":"function",` +
		`"function":{"name":"write_file",` +
		`"arguments":"{\"file_path\": \"/w/a.go\", \"content\": \"package a\"}"}}]},` +
		`{"role":"tool","tool_call_id":"c2","content":"ok"}]`)
	after := prepare()
	a.end()
	if !reflect.DeepEqual(after.Messages[:2], sent[:2]) || len(after.Messages) != len(sent)-2 ||
		after.Tokens >= before.Tokens {
		t.Errorf("%d tokens, before %d: %v", after.Tokens, before.Tokens, after.Messages)
	}
}
