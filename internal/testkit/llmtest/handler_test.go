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
	if !strings.Contains(last, `"chatcmpl-000000000003"`) {
		t.Errorf("not the third answer: %s", last)
	}
	if len(calls) != 3 || calls[2].Request.Number != 3 || calls[2].Cancelled() {
		t.Errorf("%d calls", len(calls))
	}
}
