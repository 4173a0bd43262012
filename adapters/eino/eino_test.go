package eino_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/thresh-dev/thresh/adapters/eino"
	"github.com/thresh-dev/thresh/adapters/internal/fit/fittest"
	"github.com/thresh-dev/thresh/host"
)

func TestMain(m *testing.M) {
	host.ReexecMain()
	m.Run()
}

// reader is a model that reads a number of files and then answers. It judges each request as a provider does.
type reader struct {
	t     *testing.T
	h     *host.Host
	files int
	calls int
	// What the longest request held and would have held.
	most, all int
	said      *schema.Message
	last      []*schema.Message
}

func (r *reader) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return r, nil }

func (r *reader) Stream(
	ctx context.Context, in []*schema.Message, o ...model.Option,
) (*schema.StreamReader[*schema.Message], error) {
	m, err := r.Generate(ctx, in, o...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

func (r *reader) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	r.last = in
	r.most = max(r.most, judge(r.t, r.h, in))
	if r.calls == r.files {
		return schema.AssistantMessage("All files were read.", nil), nil
	}
	r.calls++
	r.said = schema.AssistantMessage(fmt.Sprintf("Reading file %d.", r.calls), []schema.ToolCall{{
		ID: fmt.Sprintf("call_%d", r.calls), Type: "function",
		Function: schema.FunctionCall{Name: "read_file", Arguments: fmt.Sprintf(`{"path":"f%d.go"}`, r.calls)},
		Extra:    map[string]any{"signature": r.calls},
	}})
	r.said.Extra = map[string]any{"of": "the provider"}
	return r.said, nil
}

// judge reports what a provider would refuse, and returns the tokens of a request.
func judge(t *testing.T, h *host.Host, messages []*schema.Message) (sum int) {
	t.Helper()
	open := map[string]bool{}
	for i, m := range messages {
		text := m.Content
		for _, call := range m.ToolCalls {
			open[call.ID] = true
			text += call.Function.Name + call.Function.Arguments
		}
		if m.Role == schema.Tool {
			if !open[m.ToolCallID] {
				t.Errorf("message %d answers %q, which is not asked", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
		} else if len(m.ToolCalls) == 0 && len(open) > 0 {
			t.Errorf("message %d comes before the answers of %v", i, open)
		}
		sum += fittest.Tokens(t, h, text)
	}
	if len(open) > 0 {
		t.Errorf("%v are not answered", open)
	}
	return sum
}

type path struct {
	Path string `json:"path"`
}

func TestAnAgentStaysUnderTheLimit(t *testing.T) {
	for _, strategy := range []string{"distill", "high-density", "top-down-truncation"} {
		t.Run(strategy, func(t *testing.T) {
			h := fittest.Open(t, strategy)
			read, err := utils.InferTool("read_file", "reads a file", func(_ context.Context, p path) (string, error) {
				return fittest.File(p.Path), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			middleware, err := eino.Middleware(t.Context(), h, read)
			if err != nil {
				t.Fatal(err)
			}
			llm := &reader{t: t, h: h, files: 40}
			agent, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
				Name: "reader", Description: "reads files", Instruction: "You read files.", Model: llm, MaxIterations: 100,
				ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{read}}},
				Middlewares: []adk.AgentMiddleware{middleware},
			})
			if err != nil {
				t.Fatal(err)
			}
			conversation := []adk.Message{schema.UserMessage("Read all files of the project.")}
			run := func() {
				t.Helper()
				events := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent}).Run(t.Context(), conversation)
				for event, more := events.Next(); more; event, more = events.Next() {
					if event.Err != nil {
						t.Fatal(event.Err)
					}
					if event.Output != nil && event.Output.MessageOutput != nil {
						conversation = append(conversation, event.Output.MessageOutput.Message)
					}
				}
			}
			run()
			whole := judge(t, h, conversation)
			t.Logf("%d calls; the longest request has %d tokens, the conversation %d", llm.calls+1, llm.most, whole)
			if llm.calls != 40 || llm.most > fittest.Limit || whole < 2*fittest.Limit {
				t.Errorf("%d calls of 40; the longest request has %d tokens of %d, the conversation %d",
					llm.calls, llm.most, fittest.Limit, whole)
			}
			// What a person said last stays with every strategy.
			if llm.last[0].Role != schema.System || llm.last[1].Role != schema.User ||
				llm.last[1].Content != "Read all files of the project." {
				t.Errorf("the model was last told %q and %q", llm.last[0].Content, llm.last[1].Content)
			}
			if !slices.Contains(llm.last, llm.said) {
				t.Errorf("the model's last message is not sent back as it was: %+v", llm.said)
			}
			before := len(llm.last)

			// The program goes on with all that was said, and the session goes on with it.
			next := schema.UserMessage("Now say which was the longest.")
			next.Extra = map[string]any{"id": 7}
			conversation = append(conversation, next)
			run()
			if sent := len(llm.last); sent > before+2 || llm.last[sent-1] != next {
				t.Errorf("%d messages after %d, the last of them %+v", sent, before, llm.last[sent-1])
			}
		})
	}
}

// A message that a strategy changes keeps what only Eino knows; what is not changed is the message itself.
func TestWhatEinoKeepsStaysWithItsMessage(t *testing.T) {
	h := fittest.Open(t, "top-down-truncation")
	middleware, err := eino.Middleware(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	picture := "aGVsbG8="
	said := []*schema.Message{
		schema.SystemMessage("Be brief."),
		{Role: schema.User, Name: "ann", UserInputMultiContent: []schema.MessageInputPart{
			{Type: schema.ChatMessagePartTypeText, Text: "What is this?"},
			{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{
				MessagePartCommon: schema.MessagePartCommon{Base64Data: &picture, MIMEType: "image/png"}}},
		}},
		{Role: schema.Assistant, Content: "I look.", ReasoningContent: "hm", Extra: map[string]any{"signature": "abc"},
			ToolCalls: []schema.ToolCall{{ID: "1", Function: schema.FunctionCall{Name: "look", Arguments: "not JSON"}}}},
		schema.ToolMessage("a cat", "1", schema.WithToolName("look")),
		schema.SystemMessage("Answer in French."),
		schema.UserMessage("So?"),
	}
	state := &adk.ChatModelAgentState{Messages: slices.Clone(said)}
	if err := middleware.BeforeChatModel(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(state.Messages, said) {
		t.Errorf("got  %v\nwant %v", state.Messages, said)
	}
}
