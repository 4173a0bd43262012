package transcript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

const sample = `{"history":[
{"speaker":"human","blocks":[{"type":"text","text":"be brief"}],"metadata":{"role":"system"}},
{"speaker":"human","blocks":[{"type":"text","text":"see"},{"type":"media","mimeType":"image/png","data":"aGk=","encoding":"base64"}],"metadata":{"timestamp":"T"}},
{"speaker":"ai","blocks":[{"type":"thinking","thought":"hm","signature":"s"},{"type":"thinking","thought":"unsigned"},{"type":"text","text":"ok"},{"type":"tool_call","id":"a|1","name":"f","parameters":{"z":1.0,"a":2}},{"type":"tool_call","id":"2","name":"g","parameters":"raw text"},{"type":"tool_call","id":"3","name":"h"}]},
{"speaker":"human","blocks":[{"type":"text","text":"meanwhile"}]},
{"speaker":"tool","blocks":[{"type":"tool_response","callId":"a|1","toolName":"f","result":{"n":1.50}},{"type":"media","mimeType":"image/png","data":"aGk=","encoding":"base64"},{"type":"tool_response","callId":"2","toolName":"g","error":"broke"},{"type":"tool_response","callId":"9","toolName":"x","result":"lost"}]},
{"speaker":"ai","blocks":[{"type":"code","code":"x := 1\n","language":"go"},{"type":"tool_call","id":"2","name":"g"}]},
{"speaker":"narrator","blocks":[{"type":"text","text":"aside"}]},
{"speaker":"tool","blocks":[{"type":"tool_response","callId":"2","toolName":"g","result":"late"}]},
{"speaker":"ai","blocks":[{"type":"hologram"}]}
]}`

func TestWritingOpenAIChat(t *testing.T) {
	out, notes := write(t, read(t, sample), transcript.OpenAIChat)
	want := `{"messages":[
{"role":"system","content":"be brief"},
{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]},
{"role":"assistant","content":"ok","tool_calls":[{"id":"a|1","type":"function","function":{"name":"f","arguments":"{\"z\":1.0,\"a\":2}"}},{"id":"2","type":"function","function":{"name":"g","arguments":"raw text"}},{"id":"3","type":"function","function":{"name":"h","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"a|1","content":"{\"n\":1.50}"},
{"role":"tool","tool_call_id":"2","content":"broke"},
{"role":"tool","tool_call_id":"3","content":"[no result was recorded]"},
{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]},
{"role":"user","content":"meanwhile"},
{"role":"user","content":"[result of x]\nlost"},
{"role":"assistant","content":"` + "```go\\nx := 1\\n```" +
		`","tool_calls":[{"id":"2","type":"function","function":{"name":"g","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"2","content":"late"}
]}
`
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		`entry 4: 2 × result moved up to directly follow its call (the first is here)`,
		`entry 4: 1 × result without a call before it written as user text`,
		`entry 6: 1 × entry of the unknown speaker "narrator" left out`,
		`entry 2: 1 × call without a result answered with "[no result was recorded]"`,
		`entry 2: 2 × thinking left out (the first is here)`,
		`entry 2: 1 × result's media written as a user message after the results`,
		`entry 8: 1 × block of the kind "hologram" left out`,
		`entry 8: 1 × entry without anything that could be written left out`,
		`~ entry 1: 1 × entry's metadata (timestamp, model, usage and the like) left out`,
	}, notes); diff != "" {
		t.Error(diff)
	}
}

func TestWritingAnthropicMessages(t *testing.T) {
	out, notes := write(t, read(t, sample), transcript.AnthropicMessages)
	want := `{"system":[{"type":"text","text":"be brief"}],
"messages":[
{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]},
{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"ok"},{"type":"tool_use","id":"a_1","name":"f","input":{"z":1.0,"a":2}},{"type":"tool_use","id":"2","name":"g","input":{"input":"raw text"}},{"type":"tool_use","id":"3","name":"h","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"a_1","content":[{"type":"text","text":"{\"n\":1.50}"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]},{"type":"tool_result","tool_use_id":"2","content":"broke","is_error":true},{"type":"tool_result","tool_use_id":"3","content":"[no result was recorded]","is_error":true},{"type":"text","text":"meanwhile"},{"type":"text","text":"[result of x]\nlost"}]},
{"role":"assistant","content":[{"type":"text","text":"` + "```go\\nx := 1\\n```" +
		`"},{"type":"tool_use","id":"2_2","name":"g","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"2_2","content":"late"}]}
]}
`
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		`entry 4: 2 × result moved up to directly follow its call (the first is here)`,
		`entry 4: 1 × result without a call before it written as user text`,
		`entry 6: 1 × entry of the unknown speaker "narrator" left out`,
		`entry 2: 1 × call without a result answered with "[no result was recorded]"`,
		`entry 2: 2 × call id changed: providers require unique ids of plain characters (the first is here)`,
		`entry 2: 1 × thinking without a signature left out`,
		`entry 2: 1 × call's parameters, which are not an object, wrapped in {"input": …}`,
		`entry 8: 1 × block of the kind "hologram" left out`,
		`~ entry 1: 1 × entry's metadata (timestamp, model, usage and the like) left out`,
	}, notes); diff != "" {
		t.Error(diff)
	}
}

func TestACallThatIsStillRunningStaysUnanswered(t *testing.T) {
	tr := read(t, `[{"speaker":"ai","blocks":[{"type":"tool_call","id":"1","name":"f","parameters":{}}]}]`)
	out, notes := write(t, tr, transcript.AnthropicMessages)
	want := `{"messages":[
{"role":"user","content":[{"type":"text","text":"[the beginning is not in the transcript]"}]},
{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]}
]}
`
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		`entry 0: 1 × call at the end that is not answered yet`,
		`entry 0: 1 × line of text put before the model's first message: the API requires a user message first`,
	}, notes); diff != "" {
		t.Error(diff)
	}
}

func TestToolSchemasGoBackToTheProviderTheyCameFrom(t *testing.T) {
	tr := read(t, `{"tools":[{"name":"f","input_schema":{"n":1.0}}],"messages":[{"role":"user","content":"x"}]}`)
	if out, notes := write(t, tr, transcript.AnthropicMessages); !bytes.Contains(
		[]byte(out),
		[]byte(`"tools":[{"name":"f","input_schema":{"n":1.0}}]`),
	) ||
		len(notes) > 0 {
		t.Error(out, notes)
	}
	if out, notes := write(t, tr, transcript.OpenAIChat); bytes.Contains([]byte(out), []byte(`"tools"`)) ||
		len(notes) != 1 {
		t.Error(out, notes)
	}
}

// message is what providers check of a message.
type message struct {
	Role    string
	Content json.RawMessage
	Calls   []struct{ ID string } `json:"tool_calls"`
	CallID  string                `json:"tool_call_id"`
}

func written(t *rapid.T, history []content.Content, f transcript.Format) []message {
	var out bytes.Buffer
	if _, err := transcript.Write(&out, &transcript.Transcript{Entries: history}, f); err != nil {
		t.Fatal(err)
	}
	var doc struct{ Messages []message }
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	return doc.Messages
}

func TestOpenAIGetsEveryCallAnsweredAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := gen.History(gen.Options{Malformed: true, MediaBlocks: true}).Draw(t, "history")
		open := map[string]bool{}
		list := written(t, history, transcript.OpenAIChat)
		for i, m := range list {
			if m.Role == "tool" {
				if !open[m.CallID] {
					t.Fatalf("message %d answers %q, which is not open", i, m.CallID)
				}
				delete(open, m.CallID)
				continue
			}
			if len(open) > 0 {
				t.Fatalf("message %d follows unanswered calls %v", i, open)
			}
			for _, c := range m.Calls {
				if open[c.ID] {
					t.Fatalf("message %d has the id %q twice", i, c.ID)
				}
				open[c.ID] = true
			}
		}
	})
}

func TestAnthropicGetsAlternatingRolesAndResultsFirst(t *testing.T) {
	type block struct {
		Type, ID, Text string
		ToolUseID      string `json:"tool_use_id"`
	}
	rapid.Check(t, func(t *rapid.T) {
		history := gen.History(gen.Options{Malformed: true, MediaBlocks: true}).Draw(t, "history")
		open, used := map[string]bool{}, map[string]bool{}
		for i, m := range written(t, history, transcript.AnthropicMessages) {
			if want := []string{"user", "assistant"}[i%2]; m.Role != want {
				t.Fatalf("message %d is the %s's", i, m.Role)
			}
			var blocks []block
			if err := json.Unmarshal(m.Content, &blocks); err != nil || len(blocks) == 0 {
				t.Fatalf("message %d: %v: %s", i, err, m.Content)
			}
			other := false
			for _, b := range blocks {
				switch b.Type {
				case "tool_result":
					if !open[b.ToolUseID] || other {
						t.Fatalf(
							"message %d: result of %q, open: %v, behind another block: %v", i, b.ToolUseID, open,
							other,
						)
					}
					delete(open, b.ToolUseID)
					continue
				case "tool_use":
					if used[b.ID] {
						t.Fatalf("message %d uses the id %q again", i, b.ID)
					}
					used[b.ID], open[b.ID] = true, true
				}
				other = true
			}
			if m.Role == "user" && len(open) > 0 {
				t.Fatalf("message %d leaves calls unanswered: %v", i, open)
			}
		}
	})
}

// said is what a conversation comes to: texts, calls and results in order, whatever entries they stand in.
func said(history []content.Content) []string {
	var out []string
	for _, c := range history {
		for _, b := range c.Blocks {
			switch b := b.(type) {
			case content.Text:
				out = append(out, string(c.Speaker)+" says "+b.Text)
			case content.ToolCall:
				out = append(out, fmt.Sprintf("call %s %s %s", b.ID, b.Name, b.Parameters))
			case content.ToolResponse:
				out = append(out, fmt.Sprintf("result %s %s %s", b.CallID, b.ToolName, b.ResultText()))
			}
		}
	}
	return out
}

func TestPlainHistoriesSurviveTheWayThroughAProvidersForm(t *testing.T) {
	history := gen.Session(400, 7)
	for history[len(history)-1].Speaker == content.AI {
		history = history[:len(history)-1]
	}
	for history[0].Speaker != content.Human {
		history = history[1:]
	}
	for _, f := range []transcript.Format{transcript.OpenAIChat, transcript.AnthropicMessages} {
		var out bytes.Buffer
		if _, err := transcript.Write(&out, &transcript.Transcript{Entries: history}, f); err != nil {
			t.Fatal(err)
		}
		back, err := transcript.Read(&out, transcript.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(said(history), said(back.Entries)); diff != "" {
			t.Errorf("%s: %.2000s", f, diff)
		}
		if back.Format != f {
			t.Errorf("%s is read as %s", f, back.Format)
		}
	}
}

func TestErrorsOfTheWriterAreReturned(t *testing.T) {
	for _, f := range []transcript.Format{transcript.Native, transcript.OpenAIChat, transcript.AnthropicMessages} {
		if _, err := transcript.Write(fullDisk{}, &transcript.Transcript{Entries: gen.Session(300, 1)}, f); err == nil {
			t.Errorf("%s: no error", f)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, fmt.Errorf("disk full") }

// A tool that the provider ran is written with its result, whichever tool it was.
func TestAProvidersToolIsWrittenWithItsResult(t *testing.T) {
	for _, kind := range []string{"web_search", "web_fetch", "code_execution", "bash_code_execution", "advisor", "tool_search"} {
		recorded := read(t, `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[`+
			`{"type":"server_tool_use","id":"s1","name":"x","input":{}},{"type":"`+kind+`_tool_result","tool_use_id":"s1","content":{}},`+
			`{"type":"text","text":"done"}]}]}`)
		out, notes := write(t, recorded, transcript.AnthropicMessages)
		if !bytes.Contains([]byte(out), []byte("server_tool_use")) || !bytes.Contains([]byte(out), []byte(kind+"_tool_result")) {
			t.Errorf("%s: %v\n%s", kind, notes, out)
		}
	}
}

func TestItemsOfTheResponsesAPIAreReadAndHaveIDsOfTheirOwn(t *testing.T) {
	long := strings.Repeat("x", 5000)
	tr := read(t, `{"input":[{"type":"message","role":"user","content":"go"},
{"type":"web_search_call","id":"ws_1","status":"completed","action":{"query":"`+long+`"}},
{"type":"mcp_list_tools","id":"m_1","tools":[{"name":"`+long+`"}]},
{"type":"function_call","call_id":"c|1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c|1","output":"one"},
{"type":"function_call","call_id":"c|1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c|1","output":"two"}]}`)
	out, _ := write(t, tr, transcript.OpenAIResponses)
	for _, want := range []string{`"ws_1"`, `"m_1"`, `"call_id":"c|1","output":"one"`, `"call_id":"c|1_2","output":"two"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
}
