package modelapi

import (
	"encoding/json"
	"strings"
	"testing"
)

// Messages of the system stand in sections that follow a person or a provider's tool and precede the model.
func TestSections(t *testing.T) {
	all := strings.Join([]string{clearBeta, effortBeta, toolsBeta}, ",")
	words := map[string]string{
		"user": `{"role":"user","content":"x"}`, "model": `{"role":"assistant","content":"x"}`,
		"call":   `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"x","input":{}}]}`,
		"result": `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}`,
		"web":    `{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}]}`,
		"system": `{"role":"system","content":"x"}`,
		"effort": `{"role":"system","content":[],"output_config":{"effort":"low"}}`,
		"once":   `{"role":"system","content":"once","clear_at":"next_user_message"}`,
		"remove": `{"role":"system","content":[{"type":"tool_removal","tool":{"type":"tool_reference","name":"read_file"}}]}`,
		"other":  `{"role":"system","content":[{"type":"tool_removal","tool":{"type":"tool_reference","name":"y"}}]}`,
		"marked": `{"role":"system","clear_at":"next_user_message","content":[{"type":"text","text":"x",` +
			`"cache_control":{}}]}`,
	}
	follow, precede := "role 'system' must follow a 'user' message", "role 'system' must precede an 'assistant' message"
	for messages, tt := range map[string]struct{ model, beta, want string }{
		"user system":                      {},
		"user system system model user":    {},
		"user web system model user":       {},
		"user call result system":          {},
		"user call result once model user": {beta: all},
		"user model effort user":           {beta: all},
		"effort user":                      {beta: all},
		"user call effort result":          {beta: all},
		"user remove":                      {beta: all},
		"system user":                      {want: "messages.0: " + follow},
		"user model system":                {want: "messages.2: " + follow},
		"user model system model user":     {want: "messages.2: " + follow},
		"user system user":                 {want: "messages.1: " + precede},
		"user system effort user":          {beta: all, want: "messages.2: " + precede},
		"effort system user":               {beta: all, want: "messages.0: " + follow},
		"user call system result":          {want: "messages.2: " + follow},
		"user once user":                   {beta: all, want: "messages.1: " + precede},
		"user once":                        {want: "messages.1.clear_at: Extra inputs"},
		"user effort":                      {want: "messages.1.output_config: Extra inputs"},
		"user marked":                      {beta: all, want: "cache_control is not permitted on a turn-scoped"},
		"user other":                       {beta: all, want: "'y' is not declared"},
		"user web remove":                  {beta: all, want: "paused"},
		"user user system":                 {model: "claude-sonnet-5", want: "role 'system' is not supported on this model"},
		"user system model":                {model: "claude-opus-4-8"},
		"user system model system":         {model: "claude-opus-4-7", want: "role 'system' is not supported on this model"},
	} {
		var items []string
		for _, name := range strings.Fields(messages) {
			items = append(items, words[name])
		}
		if tt.model == "" {
			tt.model = "claude-opus-5-5"
		}
		var body object
		_ = json.Unmarshal([]byte(`{"model":"`+tt.model+`","max_tokens":9,"tools":[{"name":"read_file"}],"messages":[`+
			strings.Join(items, ",")+`]}`), &body)
		s := Start(t, Options{Script: []Turn{{Read("a")}}})
		message, refusal := talk(t, s, "/v1/messages", tt.beta, body)
		if !strings.Contains(refusal, tt.want) || (refusal == "") != (tt.want == "") {
			t.Errorf("%s: %q", messages, refusal)
		}
		if calls := strings.Contains(encoded(message), "tool_use"); refusal == "" && calls == (messages == "user remove") {
			t.Errorf("%s: %v", messages, message)
		}
	}
	// A message for one turn that is over is in the request, and not in the prompt.
	s := Start(t, Options{})
	for _, messages := range []string{"user once model user", "user model user"} {
		var body object
		_ = json.Unmarshal([]byte(`{"model":"claude-opus-5-5","max_tokens":9,"messages":[`+strings.NewReplacer("user",
			words["user"], "once", words["once"], "model", words["model"], " ", ",").Replace(messages)+`]}`), &body)
		if _, refusal := talk(t, s, "/v1/messages", all, body); refusal != "" {
			t.Error(refusal)
		}
	}
	if r := s.Requests(); r[0].Tokens != r[1].Tokens {
		t.Errorf("%d and %d tokens", r[0].Tokens, r[1].Tokens)
	}
}
