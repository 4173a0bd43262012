package llm_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// Calls come back with their results as the providers demand it, whatever the model wrote into them.
func TestCallsOfTools(t *testing.T) {
	find := provider.Tool{Name: "find", Description: "Finds.", Schema: map[string]any{"type": "object"}}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			b := setUp(t, kind, modelapi.Options{}, nil)
			b.server.Queue(modelapi.Reply{Thinking: "hm", Text: "I look.", Calls: []modelapi.Call{
				{Name: "find", Arguments: `{"words":"` + strings.Repeat("zebra ", 20) + `"}`},
				{Name: "find", Arguments: `{"words`}, {Name: "other", Arguments: "[]"}}},
				modelapi.Reply{Text: "done"})
			req := question()
			req.Tools = []provider.Tool{find}
			got, err := b.Generate(t.Context(), req, nil)
			if err != nil {
				t.Fatal(err)
			}
			var calls []string
			answer := llm.Message{Role: llm.User}
			for _, c := range got.Calls {
				calls = append(calls, c.Name+" "+c.Arguments)
				answer.Results = append(answer.Results, provider.ToolResult{ID: c.ID, Text: "of " + c.Name, Failed: c.Name != "find"})
			}
			want := []string{`find {"words":"` + strings.Repeat("zebra ", 20) + `"}`, `find {"words`, "other []"}
			if diff := cmp.Diff(want, calls); diff != "" || got.Text != "I look." {
				t.Errorf("%q: %s", got.Text, diff)
			}
			req.Messages, req.NoCalls = append(req.Messages, got.Message(), answer), true
			if got, err = b.Generate(t.Context(), req, nil); err != nil || got.Text != "done" || len(got.Calls) > 0 {
				t.Fatalf("%+v, %v", got, err)
			}
			if refused := b.server.Refused(); len(refused) > 0 {
				t.Error(refused)
			}
			sent := string(b.server.Requests()[1].Body)
			marks := map[string][]string{
				config.KindAnthropic: {`"tool_choice":{"type":"none"}`, `"is_error":true`, `"cache_control":{"type":"ephemeral"}`},
				config.KindOpenAI:    {`"tool_choice":"none"`, `"reasoning_content":"hm"`, `"arguments":"{}"`},
			}[kind]
			for _, want := range marks {
				if !strings.Contains(sent, want) {
					t.Errorf("no %s in %s", want, sent)
				}
			}
		})
	}
}
