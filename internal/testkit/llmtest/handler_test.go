package llmtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/thresh-dev/thresh/internal/testkit/llmtest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post returns the status and the body of an answer.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("anthropic-version", "2023-06-01")
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

const (
	openAIPath    = "/v1/chat/completions"
	anthropicPath = "/v1/messages"
)

// The texts of the errors are those that clients look for.
func TestRequestsAreJudged(t *testing.T) {
	cases := map[string]struct{ path, body, want string }{
		"openai, right": {openAIPath,
			`{"model":"m","messages":[{"role":"system","content":"s"},` +
				`{"role":"user","content":[{"type":"text","text":"x"}]}]}`, ""},
		"openai, tools": {openAIPath,
			`{"model":"m","messages":[{"role":"user","content":"x"},` +
				`{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},` +
				`{"role":"tool","tool_call_id":"1","content":"y"}]}`, ""},
		"openai, no JSON":     {openAIPath, `{`, "could not parse the JSON body"},
		"openai, no model":    {openAIPath, `{"messages":[]}`, "you must provide a model"},
		"openai, no messages": {openAIPath, `{"model":"m","messages":[]}`, "empty array"},
		"openai, wrong role": {openAIPath, `{"model":"m","messages":[{"role":"ai","content":"x"}]}`,
			"Invalid value: 'ai'"},
		"openai, empty content": {openAIPath, `{"model":"m","messages":[{"role":"user","content":" "}]}`,
			"messages[0].content"},
		"openai, wrong content": {openAIPath, `{"model":"m","messages":[{"role":"user","content":5}]}`,
			"messages[0].content"},
		"openai, unanswered call": {openAIPath,
			`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"1"}]}]}`,
			"did not have response messages: 1"},
		"openai, call not at once": {openAIPath,
			`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"1"}]},{"role":"user","content":"x"}]}`,
			"did not have response messages: 1"},
		"openai, orphan": {openAIPath,
			`{"model":"m","messages":[{"role":"tool","tool_call_id":"1","content":"x"}]}`,
			"must be a response to a preceeding message"},
		"openai, no output": {openAIPath, `{"model":"m","max_tokens":0,"messages":[{"role":"user","content":"x"}]}`,
			"below minimum"},
		"openai, two limits": {openAIPath,
			`{"model":"m","max_tokens":1,"max_completion_tokens":1,"messages":[{"role":"user","content":"x"}]}`,
			"at the same time"},
		"anthropic, right": {anthropicPath,
			`{"model":"m","max_tokens":9,"system":"s","messages":[{"role":"user","content":"x"}]}`, ""},
		"anthropic, tools": {anthropicPath,
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"1"}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}]}`, ""},
		"anthropic, no limit": {anthropicPath, `{"model":"m","messages":[{"role":"user","content":"x"}]}`,
			"max_tokens: Field required"},
		"anthropic, assistant first": {anthropicPath,
			`{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":"x"}]}`, "first message must use"},
		"anthropic, same role twice": {anthropicPath,
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"user","content":"y"}]}`,
			"roles must alternate"},
		"anthropic, system as role": {anthropicPath,
			`{"model":"m","max_tokens":9,"messages":[{"role":"system","content":"x"}]}`,
			"should be 'user' or 'assistant'"},
		"anthropic, nothing said": {anthropicPath,
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[]}]}`, "must have non-empty content"},
		"anthropic, blank": {anthropicPath,
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":" "}]}`,
			"must contain non-whitespace text"},
		"anthropic, trailing space": {anthropicPath,
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},` +
				`{"role":"assistant","content":"y "}]}`,
			"cannot end with trailing whitespace"},
		"anthropic, unanswered call": {anthropicPath,
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"1"}]},{"role":"user","content":"y"}]}`,
			"without `tool_result` blocks immediately after: 1"},
		"anthropic, orphan": {anthropicPath,
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_result",` +
				`"tool_use_id":"1"}]}]}`,
			"unexpected `tool_use_id`"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			status, text := post(t, llmtest.New(t, llmtest.Options{}).URL+c.path, c.body)
			if c.want == "" {
				if status != http.StatusOK {
					t.Errorf("%d %s", status, text)
				}
				return
			}
			var answer struct {
				Error struct{ Message string }
			}
			if err := json.Unmarshal([]byte(text), &answer); err != nil || status != http.StatusBadRequest ||
				!strings.Contains(answer.Error.Message, c.want) {
				t.Errorf("%v: %d %s", err, status, text)
			}
		})
	}
}

func TestAnswersInOnePiece(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{Reply: func(r llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Thinking: "hm", Text: "you said " + r.Messages[0].Text}
	}})
	var openAI struct {
		Choices []struct {
			Message struct{ Content string }
			Finish  string `json:"finish_reason"`
		}
		Usage struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		}
	}
	_, text := post(t, s.URL+openAIPath, `{"model":"m","messages":[{"role":"user","content":"hello"}]}`)
	if err := json.Unmarshal([]byte(text), &openAI); err != nil || len(openAI.Choices) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	if c := openAI.Choices[0]; c.Message.Content != "you said hello" || c.Finish != "stop" ||
		openAI.Usage.Prompt != 2 ||
		openAI.Usage.Completion != 5 {
		t.Errorf("%s", text)
	}
	var anthropic struct {
		Content []struct{ Type, Text string }
		Stop    string `json:"stop_reason"`
	}
	_, text = post(t, s.URL+anthropicPath,
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`)
	if err := json.Unmarshal([]byte(text), &anthropic); err != nil || len(anthropic.Content) != 2 {
		t.Fatalf("%v: %s", err, text)
	}
	if anthropic.Content[0].Type != "thinking" || anthropic.Content[1].Text != "you said hello" ||
		anthropic.Stop != "end_turn" {
		t.Errorf("%s", text)
	}
}

func TestTheEventsOfAStream(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{Reply: func(llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Thinking: "hm",
			Text: "äö", ChunkBytes: 1}
	}})
	_, text := post(t, s.URL+anthropicPath,
		`{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"x"}]}`)
	var names []string
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	want := []string{"message_start", "ping",
		"content_block_start", "content_block_delta", "content_block_delta", "content_block_delta",
		"content_block_stop",
		"content_block_start", "content_block_delta", "content_block_delta", "content_block_stop",
		"message_delta", "message_stop"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	_, text = post(t, s.URL+openAIPath,
		`{"model":"m","stream":true,"stream_options":{"include_usage":true},`+
			`"messages":[{"role":"user","content":"x"}]}`)
	events := strings.Split(strings.TrimSpace(text), "\n\n")
	if n := len(events); n != 8 || events[n-1] != "data: [DONE]" || !strings.Contains(events[n-2], `"choices":[]`) {
		t.Errorf("%d events: %s", len(events), text)
	}
}

func TestPathsThatAreNotThere(t *testing.T) {
	if status, _ := post(t, llmtest.New(t, llmtest.Options{}).URL+"/v2/nothing", "{}"); status != http.StatusNotFound {
		t.Errorf("status %d", status)
	}
}

func TestRepliesAreQueued(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	s.Script(llmtest.Fail(503), llmtest.Overloaded())
	var got []int
	var last string
	for range 3 {
		var status int
		status, last = post(t, s.URL+openAIPath, `{"model":"m","messages":[{"role":"user","content":"x"}]}`)
		got = append(got, status)
	}
	if diff := cmp.Diff([]int{503, 529, 200}, got); diff != "" {
		t.Error(diff)
	}
	calls := s.Calls()
	if !strings.Contains(last, `"chatcmpl-3"`) {
		t.Errorf("not the third answer: %s", last)
	}
	if len(calls) != 3 || calls[2].Request.Number != 3 || calls[2].Cancelled() {
		t.Errorf("%d calls", len(calls))
	}
}
