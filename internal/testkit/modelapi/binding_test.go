package modelapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// talk sends a request and returns the answer, or why it was refused.
func talk(t *testing.T, s *Server, path, beta string, body object) (message object, refusal string) {
	t.Helper()
	req, _ := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(encoded(body)))
	if beta != "" {
		req.Header.Set("anthropic-beta", beta)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&message); err != nil {
		t.Fatal(err)
	}
	if e := obj(message["error"]); e != nil {
		return nil, text(e["message"])
	}
	return message, ""
}

// threeTurns is a server, and the request of a model that has called a tool three times, each time after thinking.
func threeTurns(t *testing.T, model string) (*Server, object) {
	s := Start(t, Options{
		Script: []Turn{{Read("a")}, {Read("b")}, {Read("c")}, {Read("d")}},
		Thinks: func(n int) []string {
			return [][]string{{"thinking"}, {"redacted_thinking"}, {"thinking", "redacted_thinking"}, {"thinking"}}[(n-1)%4]
		},
	})
	body := object{"model": model, "max_tokens": 9.0, "system": "You are a test.", "thinking": object{"type": "adaptive"},
		"tools":    []any{object{"name": "read_file", "input_schema": object{}}},
		"messages": []any{object{"role": "user", "content": "Fix it."}}}
	for range 3 {
		message, refusal := talk(t, s, "/v1/messages", "", body)
		if refusal != "" {
			t.Fatal(refusal)
		}
		goOn(body, message)
	}
	return s, body
}

// goOn adds an answer and the results of its calls.
func goOn(body, message object) {
	all := append(list(body["messages"]), object{"role": "assistant", "content": message["content"]})
	for _, b := range list(message["content"]) {
		if id := obj(b)["id"]; id != nil {
			all = append(all, object{"role": "user", "content": []any{
				object{"type": "tool_result", "tool_use_id": id, "content": "what it says"}}})
		}
	}
	body["messages"] = all
}

// leave takes thinking out of messages.
func leave(body object, messages ...int) {
	for _, i := range messages {
		m := obj(list(body["messages"])[i])
		m["content"] = slices.DeleteFunc(list(m["content"]), func(b any) bool { return thinkingID(obj(b)) != "" })
	}
}

// clone is a copy that shares nothing.
func clone(body object) (out object) {
	_ = json.NewDecoder(bytes.NewReader([]byte(encoded(body)))).Decode(&out)
	return out
}

// drop asks the API to leave out what does not fit.
func drop(body object) {
	body["thinking"] = object{"type": "adaptive", "block_binding": object{"prefix_mismatch_behavior": "drop_block"}}
}

// Thinking is taken back behind what it was issued behind, and nowhere else. The model's messages are 1, 3 and 5.
func TestThinkingIsBound(t *testing.T) {
	at := func(b object, i int) object { return obj(list(b["messages"])[i]) }
	ask := func(b object) { at(b, 0)["content"] = "Fix." }
	result := func(i int) func(object) {
		return func(b object) { obj(list(at(b, i)["content"])[0])["content"] = "x" }
	}
	all := []string{"messages.1.content.0", "messages.3.content.0", "messages.5.content.0", "messages.5.content.1"}
	bound := "Invalid `signature` in `thinking` block. The block is bound to a different conversation"
	for name, tt := range map[string]struct {
		edit    func(b object)
		beta    string
		want    string // in the refusal; "" for none
		dropped []string
	}{
		"as it was": {edit: func(object) {}},
		"other marks and forms": {edit: func(b object) {
			mark := object{"type": "ephemeral"}
			b["system"] = []any{object{"type": "text", "text": "You are a test.", "cache_control": mark}}
			at(b, 0)["content"] = []any{object{"type": "text", "text": "Fix it.", "cache_control": mark}}
			obj(list(at(b, 2)["content"])[0])["content"] = []any{
				object{"type": "text", "text": "what it says", "cache_control": mark}}
		}},
		"other settings": {edit: func(b object) {
			b["max_tokens"], b["output_config"], b["tool_choice"] = 10, object{"effort": "low"}, object{"type": "auto"}
		}},
		"a tool for later": {edit: func(b object) {
			b["tools"] = append(list(b["tools"]), object{"name": "x", "defer_loading": true})
		}},
		"without the oldest":  {edit: func(b object) { leave(b, 1) }},
		"without the newest":  {edit: func(b object) { leave(b, 5) }},
		"without any":         {edit: func(b object) { leave(b, 1, 3, 5) }},
		"without one between": {edit: func(b object) { leave(b, 3) }, want: "messages.5.content.0: " + bound},
		"with a part of the newest": {edit: func(b object) {
			at(b, 5)["content"] = slices.Delete(list(at(b, 5)["content"]), 1, 2)
		}, want: "cannot be modified"},
		"an edited question": {edit: ask, want: "messages.1.content.0: " + bound},
		"an edited result":   {edit: result(2), want: "messages.3.content.0: Invalid `data`"},
		"thinking of another": {edit: func(b object) { obj(list(at(b, 3)["content"])[0])["data"] = "x" },
			want: "messages.3.content.0: Invalid `data` in `redacted_thinking` block"},
		"an edit without thinking": {edit: func(b object) { ask(b); leave(b, 1, 3, 5) }},
		"another system prompt":    {edit: func(b object) { b["system"] = "x" }, want: "`tools` list differs"},
		"another tool": {edit: func(b object) {
			b["tools"] = append(list(b["tools"]), object{"name": "x"})
		}, want: "`tools` list differs"},
		"told to think": {edit: func(b object) { b["thinking"] = object{"type": "enabled"} },
			want: `"thinking.type.enabled" is not supported`},
		"with the header":           {edit: ask, beta: bindingBeta, want: "\"drop_block\"."},
		"to drop, no header":        {edit: drop, want: "thinking.block_binding: Extra inputs"},
		"to drop, as it was":        {edit: drop, beta: bindingBeta, dropped: []string{}},
		"to drop, another result":   {edit: func(b object) { drop(b); result(4)(b) }, beta: bindingBeta, dropped: all[2:]},
		"to drop, another question": {edit: func(b object) { drop(b); ask(b) }, beta: bindingBeta, dropped: all},
	} {
		s, body := threeTurns(t, "claude-opus-5-5")
		tt.edit(body)
		_, counted := talk(t, s, "/v1/messages/count_tokens", tt.beta, body)
		message, refusal := talk(t, s, "/v1/messages", tt.beta, body)
		if !strings.Contains(refusal, tt.want) || (refusal == "") != (tt.want == "") || counted != refusal {
			t.Errorf("%s: %q; counted: %q", name, refusal, counted)
		}
		names := strings.Contains(refusal, bindingBeta)
		if strings.Contains(refusal, "bound to") && names == (tt.beta != "") {
			t.Errorf("%s: %q", name, refusal)
		}
		var dropped []string
		if told, ok := message["input_transformations"]; ok {
			dropped = []string{}
			for _, d := range list(told) {
				dropped = append(dropped, text(obj(d)["path"]))
			}
		}
		last := s.Requests()[4]
		if !slices.Equal(dropped, tt.dropped) || (dropped == nil) != (tt.dropped == nil) || last.Dropped != len(dropped) {
			t.Errorf("%s: dropped %q (%d)", name, dropped, last.Dropped)
		}
		if last.Refusal != refusal || len(s.Refused()) != 2*min(1, len(refusal)) {
			t.Errorf("%s: recorded %q, %q", name, last.Refusal, s.Refused())
		}
	}
}

// What an edit unbinds is lost for good, and what the model thinks afterwards holds behind the edit: whether the client
// left the thinking out or the API did.
func TestThinkingBehindAnEditStaysOut(t *testing.T) {
	for _, drops := range []bool{false, true} {
		s, body := threeTurns(t, "claude-opus-5-5")
		header := ""
		obj(list(body["messages"])[0])["content"] = "Fix."
		before := clone(body)
		if drops {
			header = bindingBeta
			drop(body)
		} else {
			leave(body, 1, 3, 5)
		}
		message, refusal := talk(t, s, "/v1/messages", header, body)
		goOn(body, message)
		whole, again := talk(t, s, "/v1/messages", header, body)
		if refusal != "" || again != "" || drops && len(list(whole["input_transformations"])) != 4 {
			t.Errorf("drops %v: %q, %q, %v", drops, refusal, again, whole["input_transformations"])
		}
		back := clone(body)
		copy(list(back["messages"]), list(before["messages"])[:6])
		delete(back, "thinking")
		if _, refusal := talk(t, s, "/v1/messages", "", back); !strings.Contains(refusal, "messages.1.content.0") {
			t.Errorf("drops %v: thinking came back: %q", drops, refusal)
		}
	}
	// It may not come back behind what was issued without it either, where nothing else was edited.
	for _, out := range [][]int{{1}, {1, 3, 5}} {
		s, body := threeTurns(t, "claude-opus-5-5")
		whole := clone(body)
		leave(body, out...)
		message, _ := talk(t, s, "/v1/messages", "", body)
		goOn(whole, message)
		if _, refusal := talk(t, s, "/v1/messages", "", whole); !strings.Contains(refusal, "messages.7.content.0") {
			t.Errorf("thinking of %v came back: %q", out, refusal)
		}
	}
}

// Other models take it back behind anything.
func TestWhichModelsBind(t *testing.T) {
	for model, want := range map[string]bool{"claude-opus-5-5": true, "claude-fable-5-1": true, "claude-mythos-5-2": true,
		"claude-sonnet-5-5-20261001": true, "claude-haiku-5-5[1m]": true, "claude-opus-5": false, "claude-sonnet-5": false,
		"claude-opus-4-8": false, "m": false} {
		s, body := threeTurns(t, model)
		obj(list(body["messages"])[0])["content"] = "Fix."
		if _, refusal := talk(t, s, "/v1/messages", "", body); (refusal != "") != want {
			t.Errorf("%s: %q", model, refusal)
		}
		// What was never sent is counted, and nothing can have been issued behind it.
		if _, err := s.As(func(*Request) []byte { return []byte(encoded(body)) }); err != nil {
			t.Errorf("%s: %v", model, err)
		}
	}
}

// The answer to the field compaction stands for all that was sent, whatever follows it, and comes back as it is.
func TestCompactionOnDemand(t *testing.T) {
	s, body := threeTurns(t, "claude-opus-5-5")
	kept := list(body["messages"])[5:]
	body["messages"] = list(body["messages"])[:5]
	body["compaction"] = object{"type": "summarize"}
	if _, refusal := talk(t, s, "/v1/messages", "", body); !strings.Contains(refusal, "compaction: Extra inputs") {
		t.Errorf("without the header: %q", refusal)
	}
	message, refusal := talk(t, s, "/v1/messages", compactBeta, body)
	block := obj(list(message["content"])[0])
	last := s.Requests()[4]
	if refusal != "" || message["stop_reason"] != "compaction" || block["type"] != "compaction" || !last.Compacts ||
		last.Tokens == 0 {
		t.Fatalf("%q %v %+v", refusal, message, last)
	}
	delete(body, "compaction")
	for name, tt := range map[string]struct {
		beta, want string
		messages   []any
	}{
		"first": {compactBeta, "", append([]any{object{"role": "assistant", "content": []any{block}}}, kept...)},
		"with a person's words": {compactBeta, "", []any{object{"role": "user", "content": []any{block,
			object{"type": "text", "text": "Go on."}}}}},
		"without the header": {"", "is not one of the expected", []any{object{"role": "user", "content": []any{block}}}},
		"behind what it stands for": {compactBeta, "must be sent first", append(slices.Clone(list(body["messages"])),
			object{"role": "user", "content": []any{block}})},
		"edited": {compactBeta, "Invalid `signature` in `compaction`", []any{object{"role": "user", "content": []any{
			object{"type": "compaction", "content": "x", "signature": block["signature"]}}}}},
		"before an edit": {compactBeta, "messages.2.content.0", slices.Concat([]any{
			object{"role": "assistant", "content": []any{block}}, object{"role": "user", "content": "x"}}, kept)},
	} {
		body["messages"] = tt.messages
		if _, refusal := talk(t, s, "/v1/messages", tt.beta, body); !strings.Contains(refusal, tt.want) ||
			(refusal == "") != (tt.want == "") {
			t.Errorf("%s: %q", name, refusal)
		}
	}
}
