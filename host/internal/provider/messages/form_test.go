package messages_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/provider/chat"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/host/internal/provider/responses"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk/content"
)

var forms = []*messages.API{&anthropic.Messages, &chat.Messages, &responses.Messages}

// there adds messages, first through the native form and back as a transcript log does, and renders what they became.
func there(t testing.TB, f *messages.API, sent []json.RawMessage) []json.RawMessage {
	t.Helper()
	parsed, err := messages.Parse(f, messages.Before{}, sent)
	if err != nil {
		t.Fatal(f.Name, err)
	}
	if len(parsed.From) != len(parsed.Entries) {
		t.Fatalf("%d entries, %d positions", len(parsed.Entries), len(parsed.From))
	}
	stored := make([]content.Content, len(parsed.Entries))
	for i, c := range parsed.Entries {
		if err := check.Content(c); err != nil {
			t.Fatalf("%s: message %d became an entry that is refused: %v\n%s", f.Name, parsed.From[i], err,
				c.AppendJSON(nil))
		}
		if err := stored[i].UnmarshalJSON(c.AppendJSON(nil)); err != nil {
			t.Fatal(err)
		}
	}
	r := messages.Render(f, parsed.System, stored, true)
	notes := r.Tally.Notes()
	if len(notes) > 0 && !strings.Contains(fmt.Sprint(notes), "not answered yet") {
		t.Errorf("%s: %v", f.Name, notes)
	}
	if r.System == nil {
		return r.Messages
	}
	system, err := json.Marshal(map[string]json.RawMessage{"role": json.RawMessage(`"system"`), "content": r.System})
	if err != nil {
		t.Fatal(err)
	}
	return append([]json.RawMessage{system}, r.Messages...)
}

// meaning returns messages in one spelling of those that mean the same to the provider: a string is a list of one text,
// null is nothing, and messages of Anthropic with the same role are one.
func meaning(t testing.TB, f *messages.API, sent []json.RawMessage) (out []any) {
	t.Helper()
	text := map[*messages.API]string{&responses.Messages: "input_text"}[f]
	if text == "" {
		text = "text"
	}
	for _, raw := range sent {
		var m map[string]any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&m); err != nil {
			t.Fatal(err)
		}
		kind := text
		if f == &responses.Messages && m["role"] != nil {
			m["type"] = "message"
			if m["role"] == "assistant" {
				kind = "output_text"
			}
		}
		if s, ok := m["content"].(string); ok {
			m["content"] = []any{map[string]any{"type": kind, "text": s}}
		}
		clean(m)
		if f == &anthropic.Messages && len(out) > 0 {
			if before := out[len(out)-1].(map[string]any); before["role"] == m["role"] {
				before["content"] = append(before["content"].([]any), m["content"].([]any)...)
				delete(m, "role")
				delete(m, "content")
				for k, v := range m {
					before[k] = v
				}
				continue
			}
		}
		out = append(out, m)
	}
	return out
}

// clean removes what is null.
func clean(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if x == nil {
				delete(v, k)
			}
			clean(x)
		}
	case []any:
		for _, x := range v {
			clean(x)
		}
	}
}

func comesBack(t testing.TB, f *messages.API, sent []json.RawMessage) {
	t.Helper()
	want, got := meaning(t, f, sent), meaning(t, f, there(t, f, sent))
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("%s: %.6000s", f.Name, cmp.Diff(want, got))
	}
}

// lines are messages, one a line.
func lines(text string) (out []json.RawMessage) {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		out = append(out, json.RawMessage(strings.TrimSpace(line)))
	}
	return out
}

// One sample of each form has every part that is known, parts that are not, and fields of other programs.
var formSamples = map[*messages.API]string{
	&anthropic.Messages: `
		{"role":"user","content":"hi"}
		{"role":"user","content":[{"type":"text","text":"look","cache_control":{"type":"ephemeral"},"citations":[]},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="},"cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"image","source":{"type":"url","url":"https://e.org/i.png"}},{"type":"image","source":{"type":"file","file_id":"f1"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="},"title":"a.pdf","context":"c","citations":{"enabled":true}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"words"}},{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"x"}]}]}
		{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig+/="},{"type":"redacted_thinking","data":"x"},{"type":"text","text":"first"},{"type":"tool_use","id":"toolu_1","name":"f","input":{"z":1.0,"a":{"deep":[1,null]}},"caller":{"type":"direct"}},{"type":"text","text":"and"},{"type":"thinking","thinking":"","signature":"again"},{"type":"tool_use","id":"toolu_2","name":"mcp.g:h","input":{},"cache_control":{"type":"ephemeral"}},{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"type":"web_search_result","url":"u","encrypted_content":"e"}]},{"type":"hologram","beam":[1.50]}],"id":"msg_1"}
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"a\nb"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},{"type":"text","text":"ü\n"},{"type":"text","text":"","cache_control":{"type":"ephemeral"}}],"is_error":false},{"type":"tool_result","tool_use_id":"toolu_2","content":"broke","is_error":true,"cache_control":{"type":"ephemeral"}},{"type":"text","text":"go on"}]}
		{"role":"assistant","content":[{"type":"tool_use","id":"toolu_3","name":"f","input":{}},{"type":"tool_use","id":"toolu_4","name":"f","input":{}},{"type":"tool_use","id":"toolu_5","name":"f","input":{}}]}
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_3"},{"type":"tool_result","tool_use_id":"toolu_4","is_error":true},{"type":"tool_result","tool_use_id":"toolu_5","content":[{"type":"tool_reference","tool_name":"x"},{"type":"text","text":"y"}]}]}
		{"role":"assistant","content":"done"}`,
	&chat.Messages: `
		{"role":"user","name":"ann","content":[{"type":"text","text":"see","cache_control":{"type":"ephemeral"}},{"type":"image_url","image_url":{"url":"https://e.org/i.png","detail":"low"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="},"cache_control":{"type":"ephemeral"}},{"type":"input_audio","input_audio":{"data":"aGk=","format":"wav"}},{"type":"file","file":{"file_id":"f1"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,aGk="}}]}
		{"role":"assistant","content":null,"refusal":null,"reasoning_content":"hm","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}],"tool_calls":[{"id":"c|1","type":"function","function":{"name":"f","arguments":"{\"b\":1.0, \"a\":2}"},"extra_content":{"google":{"thought_signature":"s"}}},{"id":"2","type":"custom","custom":{"name":"patch","input":"*** Begin"}},{"id":"3","type":"function","function":{"name":"g","arguments":"{"}}]}
		{"role":"tool","tool_call_id":"c|1","name":"f","content":[{"type":"text","text":"one"},{"type":"text","text":"two","cache_control":{"type":"ephemeral"}}]}
		{"role":"tool","tool_call_id":"3","content":"{\"error\":\"x\"}"}
		{"role":"tool","tool_call_id":"2","content":"ok"}
		{"role":"assistant","content":"","tool_calls":[{"id":"4","type":"function","function":{"name":"f","arguments":"{}"}}]}
		{"role":"tool","tool_call_id":"4","content":[{"type":"image_url","image_url":{"url":"https://e.org/i.png"}}]}
		{"role":"assistant","content":[{"type":"text","text":"so"},{"type":"refusal","refusal":"no"}],"annotations":[],"audio":{"id":"a1"}}
		{"role":"developer","content":"mind the gap"}
		{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}
		{"role":"assistant","content":null,"refusal":"I cannot"}
		{"role":"user","content":"then not"}`,
	&responses.Messages: `
		{"role":"user","content":"hi"}
		{"type":"message","role":"user","id":"m1","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,aGk=","detail":"auto"},{"type":"input_image","file_id":"f1"},{"type":"input_file","file_id":"f2"}]}
		{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"gAAA","status":"completed"}
		{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"I look","annotations":[{"type":"url_citation","url":"u"}],"logprobs":[]}]}
		{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"a\": 1.0}","status":"completed"}
		{"type":"reasoning","id":"rs_2","summary":[]}
		{"type":"custom_tool_call","id":"ctc_1","call_id":"c2","name":"apply_patch","input":"*** Begin"}
		{"type":"function_call_output","call_id":"c1","output":"one","id":"o1"}
		{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"two"},{"type":"input_image","image_url":"https://e.org/i.png","detail":"low"}]}
		{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}
		{"role":"assistant","content":"first"}
		{"role":"assistant","content":"second"}
		{"type":"message","role":"assistant","id":"msg_2","content":[{"type":"output_text","text":"a","annotations":[]},{"type":"output_text","text":"b","annotations":[]}]}
		{"type":"message","role":"assistant","id":"msg_3","content":[{"type":"output_text","text":"so"},{"type":"refusal","refusal":"no"}]}
		{"role":"developer","content":"mind the gap"}
		{"type":"item_reference","id":"x"}
		{"type":"local_shell_call","id":"ls_1","call_id":"c3","status":"completed","action":{"type":"exec","command":["ls"]}}
		{"type":"local_shell_call_output","id":"c3","call_id":"c3","output":"files"}
		{"type":"compaction","encrypted_content":"e"}
		{"role":"user","content":"go on"}`,
}

func TestMessagesComeBackAsTheyWereAdded(t *testing.T) {
	for f, text := range formSamples {
		comesBack(t, f, lines(text))
	}
	comesBack(t, &anthropic.Messages,
		append(lines(`{"role":"system","content":[{"type":"text","text":"be brief",`+
			`"cache_control":{"type":"ephemeral"}}]}`),
			lines(formSamples[&anthropic.Messages])...))
	comesBack(t, &chat.Messages, append(lines(`
		{"role":"system","content":"be brief","name":"n"}
		{"role":"system","content":"very"}
		{"role":"developer","content":[{"type":"text","text":"rules","cache_control":{}},{"type":"text","text":"more"}]}`),
		lines(formSamples[&chat.Messages])...))
	comesBack(t, &responses.Messages, append(lines(`
		{"role":"system","content":"be brief"}
		{"type":"message","role":"developer","id":"d1","content":[{"type":"input_text","text":"rules"}]}`),
		lines(formSamples[&responses.Messages])...))
}

// A new kind of a provider is a row, and no more: what a row says is enough to read it and to write it back.
func TestEveryRowComesBack(t *testing.T) {
	made := func(k provider.Kind) string {
		o := ordered.Object{{Name: "type", Value: content.String(k.Type)}}
		for _, name := range []string{k.ID, k.Name} {
			if name != "" {
				o = append(o, ordered.Field{Name: name, Value: []byte(`"c1"`)})
			}
		}
		value := map[provider.Is]string{provider.Call: `{"a":1.0}`, provider.Result: `"out"`, provider.Text: `"words"`,
			provider.Bound: `"words"`, provider.Fence: `"words"`}[k.Is]
		switch {
		case k.Quoted, k.Type == "custom_tool_call":
			value = `"{}"`
		case k.Type == "reasoning":
			value = `[]`
		}
		if k.Value != "" {
			o = append(o, ordered.Field{Name: k.Value, Value: []byte(value)})
		}
		return string(append(o, ordered.Field{Name: "odd", Value: []byte(`{"a":[1.50]}`)}).JSON())
	}
	message := func(role, part string) string { return fmt.Sprintf(`{"role":%q,"content":[%s]}`, role, part) }
	for _, f := range forms {
		for _, k := range f.Form.Parts {
			sent := message("user", `{"type":"`+f.Form.TextType(content.Human)+`","text":"hi"}`) + "\n"
			role := "user"
			if k.By == content.AI || k.Type == "output_text" {
				role = "assistant"
			}
			if k.Is == provider.Result {
				sent += message("assistant", `{"type":"tool_use","id":"c1","name":"f","input":{}}`) + "\n"
			}
			if !k.Inner {
				comesBack(t, f, lines(sent+message(role, made(k))))
			}
		}
		for _, k := range f.Form.Items {
			sent := `{"role":"user","content":"hi"}` + "\n"
			if call, ok := strings.CutSuffix(k.Type, "_output"); ok {
				row := responses.Item(call)
				if row == nil {
					row = responses.Item(call + "_call") // of a search of tools
				}
				sent += made(*row) + "\n"
			}
			comesBack(t, f, lines(sent+made(k)))
		}
	}
}

// Whatever history an agent has, its messages come back.
func TestMadeMessagesComeBackAsTheyWereAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := gen.History(gen.Options{MediaBlocks: true}).Draw(t, "history")
		for _, f := range forms {
			// What a provider accepts is what Write makes of a history.
			r := messages.Render(f, nil, history, true)
			want := fmt.Sprintf("%s", r.Messages)
			parsed, err := messages.Parse(f, messages.Before{}, r.Messages)
			if err != nil {
				t.Fatal(f.Name, err)
			}
			again := messages.Render(f, parsed.System, parsed.Entries, true)
			if got := fmt.Sprintf("%s", again.Messages); got != want {
				t.Fatalf("%s: %s", f.Name, cmp.Diff(strings.Split(want, "} {"), strings.Split(got, "} {")))
			}
		}
	})
}

// Messages that real agents sent come back.
func TestRecordedMessagesComeBackAsTheyWereAdded(t *testing.T) {
	dir := filepath.Join(repo.Shared(t, "sessions"), "native")
	for file, f := range map[string]*messages.API{
		"tau-bench/airline-task2-trial1.json":  &chat.Messages,
		"tau-bench/airline-task33-trial0.json": &chat.Messages,
		"agentv/codex-3c-162d1d8ad4-1.jsonl":   &responses.Messages,
		"agentv/claude-7a-d2528cc37f-0.jsonl":  &anthropic.Messages,
	} {
		sent := repo.Messages(t, filepath.Join(dir, file))
		if len(sent) < 40 {
			t.Errorf("%s: %d messages", file, len(sent))
		}
		comesBack(t, f, sent)
	}
}

func TestWrongMessagesAreNamedWithTheirPart(t *testing.T) {
	for _, c := range []struct {
		form    *messages.API
		message string
		want    string
	}{
		{&anthropic.Messages, `7`, "message 1: it is 7, not an object"},
		{&anthropic.Messages, `{"role":`, "message 1: it is not valid JSON"},
		{&anthropic.Messages, `{"speaker":"human","blocks":[]}`,
			"message 1: it is an entry of the native form"},
		{&anthropic.Messages, `{"role":"tool","content":"x"}`, `message 1: unknown role "tool"`},
		{&anthropic.Messages, `{"role":"user"}`, `message 1: "content" is missing`},
		{&anthropic.Messages, `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text"}]}`,
			`message 1, part 1: a text part needs "text"`},
		{&anthropic.Messages, `{"role":"user","content":[{"type":"tool_use","id":"1","name":"f"}]}`,
			"message 1, part 0: a tool_use in a message of the role user"},
		{&anthropic.Messages, `{"role":"assistant","content":"","tool_calls":[]}`,
			`message 1: "tool_calls" is of the form openai-chat`},
		{&chat.Messages, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}`,
			`message 1, part 0: "tool_result" is of the form anthropic`},
		{&chat.Messages, `{"role":"tool","content":"x"}`,
			"message 1: a message of the role tool needs tool_call_id"},
		{&chat.Messages, `{"role":"assistant","tool_calls":[{"id":"1"}]}`,
			"message 1: call 0 of tool_calls needs id"},
		{&responses.Messages, `{"type":"function_call","name":"f"}`, "message 1: a function_call needs call_id"},
		{&responses.Messages, `{"role":"user","content":[{"type":"text","text":"x"}]}`,
			`message 1, part 0: "text" is no part of the form openai-responses`},
	} {
		_, err := messages.Parse(c.form, messages.Before{},
			[]json.RawMessage{[]byte(`{"role":"user","content":"hi"}`), []byte(c.message)})
		var wrong *messages.Error
		if !errors.As(err, &wrong) || wrong.Message != 1 || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", c.message, err)
		}
	}
}

// What a strategy made of an entry is sent, not what the agent had added.
func TestAPrunedResultIsSentAsItIsNow(t *testing.T) {
	for f, text := range formSamples {
		parsed, err := messages.Parse(f, messages.Before{}, lines(text))
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range parsed.Entries {
			for j, b := range c.Blocks {
				if r, ok := b.(content.ToolResponse); ok {
					c.Blocks[j] = r.WithResultText("pruned")
				}
				if _, ok := b.(content.Media); ok && c.Speaker == content.Tool {
					c.Blocks[j] = content.Text{Text: "pruned too"}
				}
			}
			parsed.Entries[i] = c
		}
		r := messages.Render(f, nil, parsed.Entries, true)
		all := fmt.Sprintf("%s", r.Messages)
		if !strings.Contains(all, `"pruned"`) || strings.Contains(all, "broke") || strings.Contains(all, `"one"`) {
			t.Errorf("%s: %s", f.Name, all)
		}
	}
}

// A response that arrives later than its call is known by the tool that was called.
func TestAResponseGetsTheNameOfACallThatWasAddedBefore(t *testing.T) {
	for f, message := range map[*messages.API]string{
		&anthropic.Messages: `{"role":"user","content":[{"type":"tool_result","tool_use_id":"7",` +
			`"content":"x"}]}`,
		&chat.Messages:      `{"role":"tool","tool_call_id":"7","content":"x"}`,
		&responses.Messages: `{"type":"function_call_output","call_id":"7","output":"x"}`,
	} {
		parsed, err := messages.Parse(f, messages.Before{Begun: true,
			Called: func(id string) string { return "tool" + id }}, lines(message))
		if err != nil {
			t.Fatal(err)
		}
		if r := parsed.Entries[0].Blocks[0].(content.ToolResponse); r.ToolName != "tool7" {
			t.Errorf("%s: %+v", f.Name, r)
		}
		system, err := messages.Parse(f, messages.Before{Begun: true}, lines(`{"role":"system","content":"now"}`))
		if err != nil || system.System != nil || !system.Entries[0].Pinned() {
			t.Errorf("%s: %+v %v", f.Name, system, err)
		}
	}
}

// Neighbours of one role become one message, which must have each of its fields once.
func TestMergedMessagesHaveEachFieldOnce(t *testing.T) {
	parsed, err := messages.Parse(&anthropic.Messages, messages.Before{}, lines(`
		{"role":"user","content":"a","note":"first"}
		{"role":"user","content":"b","note":"second"}`))
	if err != nil {
		t.Fatal(err)
	}
	r := messages.Render(&anthropic.Messages, nil, parsed.Entries, true)
	if got := fmt.Sprintf("%s", r.Messages); len(r.Messages) != 1 || strings.Count(got, `"note"`) != 1 ||
		!strings.Contains(got, "second") {
		t.Error(got)
	}
}

// The fields of messages that become one are not copied for each of them.
func TestMergedMessagesTakeMemoryInProportion(t *testing.T) {
	taken := func(n int) uint64 {
		raw := make([]json.RawMessage, n)
		for i := range raw {
			raw[i] = fmt.Appendf(nil, `{"role":"assistant","content":"a","note %d":1}`, i)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := messages.Parse(&anthropic.Messages, messages.Before{}, raw); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	taken(1) // what is made once
	if few, many := taken(500), taken(5000); many > 20*few {
		t.Errorf("10 times as many messages take %.1f times as much", float64(many)/float64(few))
	}
}
