package adk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"testing"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/thresh-dev/thresh/adapters/adk"
	"github.com/thresh-dev/thresh/adapters/internal/fit/fittest"
	"github.com/thresh-dev/thresh/host"
)

func TestMain(m *testing.M) {
	host.ReexecMain()
	m.Run()
}

// reader is a model that reads two files in each of a number of turns and then answers. It judges each request as a
// provider does.
type reader struct {
	t                  *testing.T
	h                  *host.Host
	turns, calls, most int
	last               []*genai.Content
}

func (r *reader) Name() string { return "reader" }

func (r *reader) GenerateContent(
	_ context.Context, in *model.LLMRequest, _ bool,
) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		r.last = in.Contents
		r.most = max(r.most, judge(r.t, r.h, in.Contents))
		out := &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "All files were read."}}}
		if r.calls < r.turns {
			r.calls++
			out.Parts = []*genai.Part{{Text: "hm", Thought: true}, {Text: fmt.Sprintf("Reading %d.", r.calls)}}
			for i := range 2 {
				p := genai.NewPartFromFunctionCall("read_file", map[string]any{"path": fmt.Sprintf("%d/f%d.go", i, r.calls)})
				if i == 0 {
					p.ThoughtSignature = []byte{byte(r.calls)}
				}
				out.Parts = append(out.Parts, p)
			}
		}
		yield(&model.LLMResponse{Content: out, TurnComplete: true}, nil)
	}
}

// judge reports what Gemini would refuse, and returns the tokens of a request.
func judge(t *testing.T, h *host.Host, contents []*genai.Content) (sum int) {
	t.Helper()
	var open []string
	for i, c := range contents {
		if i == 0 && c.Role != genai.RoleUser {
			t.Errorf("the first content is of %q", c.Role)
		}
		var calls, answers []string
		text := ""
		for _, p := range c.Parts {
			text += p.Text
			switch {
			case p.FunctionCall != nil:
				if len(calls) == 0 && p.ThoughtSignature == nil {
					t.Errorf("content %d: the first call has no signature", i)
				}
				calls = append(calls, p.FunctionCall.Name)
				args, _ := json.Marshal(p.FunctionCall.Args)
				text += string(args)
			case p.FunctionResponse != nil:
				answers = append(answers, p.FunctionResponse.Name)
				for _, v := range p.FunctionResponse.Response {
					text += fmt.Sprint(v)
				}
			}
		}
		if !slices.Equal(answers, open) {
			t.Errorf("content %d has answers of %q to calls of %q", i, answers, open)
		}
		open = calls
		sum += fittest.Tokens(t, h, text)
	}
	return sum
}

type path struct {
	Path string `json:"path"`
}

type file struct {
	Text string `json:"text"`
}

func TestAnAgentStaysUnderTheLimit(t *testing.T) {
	for _, strategy := range []string{"distill", "high-density", "top-down-truncation"} {
		t.Run(strategy, func(t *testing.T) {
			h := fittest.Open(t, strategy)
			read, err := functiontool.New(functiontool.Config{Name: "read_file", Description: "reads a file"},
				func(_ agent.Context, p path) (file, error) { return file{fittest.File(p.Path)}, nil })
			if err != nil {
				t.Fatal(err)
			}
			llm := &reader{t: t, h: h, turns: 20}
			a, err := llmagent.New(llmagent.Config{Name: "reader", Description: "reads files", Model: llm,
				Instruction: "You read files.", Tools: []tool.Tool{read}})
			if err != nil {
				t.Fatal(err)
			}
			thresh, err := adk.Plugin(h)
			if err != nil {
				t.Fatal(err)
			}
			sessions := session.InMemoryService()
			r, err := runner.New(runner.Config{AppName: "test", Agent: a, SessionService: sessions, AutoCreateSession: true,
				PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{thresh}}})
			if err != nil {
				t.Fatal(err)
			}
			run := func(question string) {
				t.Helper()
				said := genai.NewContentFromText(question, genai.RoleUser)
				for _, err := range r.Run(t.Context(), "ann", "s", said, agent.RunConfig{}) {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			run("Read all files of the project.")
			stored, err := sessions.Get(t.Context(), &session.GetRequest{AppName: "test", UserID: "ann", SessionID: "s"})
			if err != nil {
				t.Fatal(err)
			}
			whole := 0
			for event := range stored.Session.Events().All() {
				for _, p := range event.Content.Parts {
					if p.FunctionResponse != nil {
						whole += fittest.Tokens(t, h, fmt.Sprint(p.FunctionResponse.Response))
					}
				}
			}
			t.Logf("%d calls; the longest request has %d tokens, the results %d", llm.calls, llm.most, whole)
			if llm.calls != 20 || llm.most > fittest.Limit || whole < 2*fittest.Limit {
				t.Errorf("%d calls of 20; the longest request has %d tokens of %d, the results %d", llm.calls, llm.most,
					fittest.Limit, whole)
			}
			first, sent := llm.last[0].Parts[0].Text, len(llm.last)
			if strategy != "top-down-truncation" && first != "Read all files of the project." {
				t.Errorf("the model was last told %q first", first)
			}
			run("Now say which was the longest.")
			if n := len(llm.last); n > sent+2 || llm.last[n-1].Parts[0].Text != "Now say which was the longest." {
				t.Errorf("%d contents after %d, the last of them %+v", n, sent, llm.last[n-1].Parts[0])
			}
		})
	}
}
