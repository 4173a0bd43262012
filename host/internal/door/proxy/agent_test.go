package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// agent is a client of one API that keeps its conversation as the bytes that it sends, as real ones do.
type agent struct {
	form  form
	base  string
	items []json.RawMessage
	// result is what each tool answers.
	result func(turn int, c call) string
	sent   [][]byte // the bodies, in order
	ends   []int    // how many items each had
}

// call is a tool call of the model.
type call struct{ id, name, args string }

// form is how an API writes a conversation.
type form interface {
	path() string
	header() http.Header
	body(items []json.RawMessage) []byte
	user(text string) json.RawMessage
	read(answer []byte) (items []json.RawMessage, calls []call)
	results(calls []call, texts []string) []json.RawMessage
}

// run asks and runs tools until the model makes no call, and returns the status of the last answer.
func (a *agent) run(t testing.TB, prompt string) int {
	t.Helper()
	a.items = append(a.items, a.form.user(prompt))
	for turn := 0; turn < 200; turn++ {
		status, answer := a.ask(t)
		if status != http.StatusOK {
			t.Logf("turn %d: %d %s", turn, status, answer)
			return status
		}
		items, calls := a.form.read(answer)
		a.items = append(a.items, items...)
		if len(calls) == 0 {
			return status
		}
		var texts []string
		for _, c := range calls {
			texts = append(texts, a.result(turn, c))
		}
		a.items = append(a.items, a.form.results(calls, texts)...)
	}
	t.Fatal("the conversation does not end")
	return 0
}

// ask sends the conversation as it is.
func (a *agent) ask(t testing.TB) (status int, answer []byte) {
	t.Helper()
	body := a.form.body(a.items)
	a.sent, a.ends = append(a.sent, body), append(a.ends, len(a.items))
	status, answer, err := post(a.base+a.form.path(), a.form.header(), body)
	if err != nil {
		t.Fatal(err)
	}
	return status, answer
}

func post(url string, header http.Header, body []byte) (int, []byte, error) {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

// rawItem is an item as its bytes.
type rawItem = json.RawMessage

func raw(format string, args ...any) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(format, args...))
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func joined(items []json.RawMessage) string {
	var out []string
	for _, i := range items {
		out = append(out, string(i))
	}
	return strings.Join(out, ",")
}

// The tools of all forms: read_file is known to the taxonomy of tools.
const (
	schema = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`
	bash   = `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`
	edit   = `{"type":"object","properties":{"path":{"type":"string"},"old_string":{"type":"string"},` +
		`"new_string":{"type":"string"}},"required":["path","old_string","new_string"]}`
)

// messagesForm is a client of the Messages API that thinks and moves a cache marker, as Claude Code does.
type messagesForm struct{ session string }

func (messagesForm) path() string { return "/v1/messages?beta=true" }
func (f messagesForm) header() http.Header {
	return http.Header{"Anthropic-Version": {"2023-06-01"}, "X-Claude-Code-Session-Id": {f.session}, "X-Api-Key": {"k"}}
}
func (messagesForm) user(text string) json.RawMessage {
	return raw(`{"role":"user","content":[{"type":"text","text":%s}]}`, quoted(text))
}
func (messagesForm) body(items []json.RawMessage) []byte {
	last := len(items) - 1
	marked := append([]json.RawMessage(nil), items...)
	m := string(items[last])
	marked[last] = json.RawMessage(m[:strings.LastIndex(m, "}]}")] + `,"cache_control":{"type":"ephemeral"}}]}`)
	return []byte(`{"model":"claude-test","max_tokens":100,"messages":[` + joined(marked) + `],"system":[{"type":"text",` +
		`"text":"You are a test.","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"read_file","input_schema":` +
		schema + `},{"name":"bash","input_schema":` + bash + `},{"name":"edit","input_schema":` + edit +
		`}],"thinking":{"type":"enabled","budget_tokens":50}}`)
}
func (messagesForm) read(answer []byte) (items []json.RawMessage, calls []call) {
	var a struct{ Content json.RawMessage }
	_ = json.Unmarshal(answer, &a)
	var blocks []struct {
		Type, ID, Name string
		Input          json.RawMessage
	}
	_ = json.Unmarshal(a.Content, &blocks)
	for _, b := range blocks {
		if b.Type == "tool_use" {
			calls = append(calls, call{b.ID, b.Name, string(b.Input)})
		}
	}
	return []json.RawMessage{raw(`{"role":"assistant","content":%s}`, a.Content)}, calls
}
func (messagesForm) results(calls []call, texts []string) []json.RawMessage {
	var parts []json.RawMessage
	for i, c := range calls {
		parts = append(parts, raw(`{"tool_use_id":%s,"type":"tool_result","content":%s}`, quoted(c.id),
			quoted(texts[i])))
	}
	return []json.RawMessage{raw(`{"role":"user","content":[%s]}`, joined(parts))}
}

// chatForm is a client of the Chat Completions API. It sends no id of its conversation.
type chatForm struct{}

func (chatForm) path() string        { return "/v1/chat/completions" }
func (chatForm) header() http.Header { return http.Header{"Authorization": {"Bearer k"}} }
func (chatForm) user(text string) json.RawMessage {
	return raw(`{"role":"user","content":%s}`, quoted(text))
}
func (chatForm) body(items []json.RawMessage) []byte {
	tool := func(name, schema string) string {
		return `{"type":"function","function":{"name":"` + name + `","parameters":` + schema + `}}`
	}
	return []byte(`{"model":"test","messages":[{"role":"system","content":"You are a test."},` + joined(items) +
		`],"tools":[` + tool("read_file", schema) + `,` + tool("run_shell_command", bash) + `,` + tool("edit",
		edit) + `]}`)
}
func (chatForm) read(answer []byte) (items []json.RawMessage, calls []call) {
	var a struct {
		Choices []struct{ Message json.RawMessage }
	}
	_ = json.Unmarshal(answer, &a)
	var m struct {
		ToolCalls []struct {
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	_ = json.Unmarshal(a.Choices[0].Message, &m)
	for _, c := range m.ToolCalls {
		calls = append(calls, call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return []json.RawMessage{a.Choices[0].Message}, calls
}
func (chatForm) results(calls []call, texts []string) (out []json.RawMessage) {
	for i, c := range calls {
		out = append(out, raw(`{"role":"tool","tool_call_id":%s,"content":%s}`, quoted(c.id), quoted(texts[i])))
	}
	return out
}

// responsesForm is a client of the Responses API with encrypted reasoning, as Codex is.
type responsesForm struct{ session string }

func (responsesForm) path() string { return "/v1/responses" }
func (f responsesForm) header() http.Header {
	return http.Header{"Authorization": {"Bearer k"}, "Thread-Id": {f.session}}
}
func (responsesForm) user(text string) json.RawMessage {
	return raw(`{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}`, quoted(text))
}
func (f responsesForm) body(items []json.RawMessage) []byte {
	tool := func(name, schema string) string {
		return `{"type":"function","name":"` + name + `","parameters":` + schema + `}`
	}
	return []byte(`{"model":"test","store":false,"include":["reasoning.encrypted_content"],` +
		`"reasoning":{"summary":"auto"},` +
		`"input":[` + joined(items) + `],"tools":[` + tool("read_file", schema) + `,` + tool("exec_command",
		bash) + `,` +
		tool("edit", edit) + `],"prompt_cache_key":"` + f.session + `"}`)
}
func (responsesForm) read(answer []byte) (items []json.RawMessage, calls []call) {
	var a struct{ Output []json.RawMessage }
	_ = json.Unmarshal(answer, &a)
	for _, item := range a.Output {
		var c struct {
			Type, Name, Arguments string
			CallID                string `json:"call_id"`
		}
		_ = json.Unmarshal(item, &c)
		if c.Type == "function_call" {
			calls = append(calls, call{c.CallID, c.Name, c.Arguments})
		}
	}
	return a.Output, calls
}
func (responsesForm) results(calls []call, texts []string) (out []json.RawMessage) {
	for i, c := range calls {
		out = append(out, raw(`{"type":"function_call_output","call_id":%s,"output":%s}`, quoted(c.id),
			quoted(texts[i])))
	}
	return out
}

// geminiForm is a client of the Gemini API.
type geminiForm struct{}

func (geminiForm) path() string        { return "/v1beta/models/gemini-test:generateContent" }
func (geminiForm) header() http.Header { return http.Header{"X-Goog-Api-Key": {"k"}} }
func (geminiForm) user(text string) json.RawMessage {
	return raw(`{"role":"user","parts":[{"text":%s}]}`, quoted(text))
}
func (geminiForm) body(items []json.RawMessage) []byte {
	tool := func(name, schema string) string {
		return `{"name":"` + name + `","parametersJsonSchema":` + schema + `}`
	}
	return []byte(`{"contents":[` + joined(items) + `],"tools":[{"functionDeclarations":[` + tool("read_file",
		schema) + `,` +
		tool("run_shell_command", bash) + `,` + tool("edit", edit) + `]}]}`)
}
func (geminiForm) read(answer []byte) (items []json.RawMessage, calls []call) {
	var a struct {
		Candidates []struct{ Content json.RawMessage }
	}
	_ = json.Unmarshal(answer, &a)
	var c struct {
		Parts []struct {
			FunctionCall *struct {
				ID, Name string
				Args     json.RawMessage
			}
		}
	}
	_ = json.Unmarshal(a.Candidates[0].Content, &c)
	for _, p := range c.Parts {
		if f := p.FunctionCall; f != nil {
			calls = append(calls, call{f.ID, f.Name, string(f.Args)})
		}
	}
	return []json.RawMessage{a.Candidates[0].Content}, calls
}
func (geminiForm) results(calls []call, texts []string) []json.RawMessage {
	var parts []json.RawMessage
	for i, c := range calls {
		parts = append(parts, raw(`{"functionResponse":{"id":%s,"name":%s,"response":{"output":%s}}}`, quoted(c.id),
			quoted(c.name), quoted(texts[i])))
	}
	return []json.RawMessage{raw(`{"role":"user","parts":[%s]}`, joined(parts))}
}
