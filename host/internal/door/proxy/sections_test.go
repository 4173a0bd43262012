package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// sectionsForm is a client with instructions within its conversation.
type sectionsForm struct{ messagesForm }

func (f sectionsForm) header() http.Header {
	h := f.messagesForm.header()
	h.Set("Anthropic-Beta", "mid-conversation-system-clear-at-2026-08-21,mid-conversation-output-config-2026-07-01,"+
		"mid-conversation-tool-changes-2026-07-01")
	return h
}

// body has no marker: the last item may have no place for one.
func (sectionsForm) body(items []rawItem) []byte {
	tool := func(name string) string { return `{"name":"` + name + `","input_schema":` + schema + `}` }
	return []byte(`{"model":"claude-opus-4-8","max_tokens":100,"messages":[` + joined(items) + `],"tools":[` +
		tool("bash") + `,` + tool("look") + `]}`)
}

// Wherever instructions stand in a conversation, no strategy makes a request of it that the provider refuses, and none
// fails because of them.
func TestInstructionsWithinAConversationAreNeverRefused(t *testing.T) {
	system := func(n int) string { return fmt.Sprintf(`{"role":"system","content":"Note %d."}`, n) }
	effort := func(int) string { return `{"role":"system","content":[],"output_config":{"effort":"low"}}` }
	tools := func(n int) string {
		return fmt.Sprintf(`{"role":"system","content":[{"type":"tool_%s","tool":{"type":"tool_reference","name":"look"}}]}`,
			[]string{"removal", "addition"}[n/5%2])
	}
	cleared := func(n int) string {
		return fmt.Sprintf(`{"role":"system","content":"Once %d.","clear_at":"next_user_message"}`, n)
	}
	said := func(n int) []string {
		return []string{fmt.Sprintf(`{"role":"assistant","content":"It is done %d."}`, n),
			fmt.Sprintf(`{"role":"user","content":"And then %d?"}`, n)}
	}
	tool, provided := messagesTurns["a tool"], messagesTurns["a provider's tool"]
	paused := func(n int, words string) []string { // it ends with the result, and the model goes on
		all := provided(n, words)
		return []string{all[0][:strings.LastIndex(all[0], `,{"type":"text"`)] + "]}"}
	}
	for name, turn := range map[string]func(n int, words string) []string{
		"behind results": func(n int, w string) []string { return append(tool(n, w), system(n)) },
		"behind words":   func(n int, w string) []string { return append(append(tool(n, w), said(n)...), system(n)) },
		"behind words at times": func(n int, w string) []string {
			if n%4 > 0 {
				return append(tool(n, w), said(n)...)
			}
			return append(append(tool(n, w), said(n)...), system(n))
		},
		"behind a provider's tool": func(n int, w string) []string {
			return append(append(paused(n, w), system(n)), append(tool(n+100, w), said(n)...)...)
		},
		"several in a row": func(n int, w string) []string {
			return append(append(tool(n, w), said(n)...), system(n), tools(n), effort(n))
		},
		"for one turn":    func(n int, w string) []string { return append(append(tool(n, w), said(n)...), cleared(n)) },
		"an effort first": func(n int, w string) []string { return append(tool(n, w), said(n)...) },
		"an effort anywhere": func(n int, w string) []string {
			t, s := tool(n, w), said(n)
			return append(t, s[0], effort(n), s[1])
		},
	} {
		for _, strategy := range []string{"distill", "high-density", "top-down-truncation"} {
			t.Run(name+"/"+strategy, func(t *testing.T) {
				t.Parallel()
				up := provider(t, modelapi.Options{Reply: modelapi.Always(modelapi.Reply{Text: "Yes."})})
				p := stand(t, up.URL, map[string]any{"compression.strategy": strategy, "model.contextLimit": 8000,
					"compression.density.cadence": "every-turn"})
				a := &agent{form: sectionsForm{messagesForm{"s"}}, base: p.url, items: []rawItem{messagesForm{}.user("Fix it.")}}
				if name == "an effort first" {
					a.items = append([]rawItem{rawItem(effort(0))}, a.items...)
				}
				refused, edited := 0, 0
				for n := range 30 {
					for _, item := range turn(n, strings.Repeat(fmt.Sprintf("report %d of the build says that all is well\n", n), 40)) {
						a.items = append(a.items, rawItem(item))
					}
					if status, answer := a.ask(t); status != http.StatusOK {
						if refused++; refused == 1 {
							t.Errorf("turn %d: %s", n, answer)
						}
					}
					if sent := up.Requests(); string(sent[len(sent)-1].Body) != string(a.sent[n]) {
						edited++
					}
				}
				got := p.proxy.Totals()
				t.Logf("%d requests, %d edited, %d refused, %d failed", len(a.sent), edited, refused, got.Failed)
				if refused+got.Failed > 0 || edited == 0 {
					t.Errorf("%d requests, %d edited, %d refused, %d failed", len(a.sent), edited, refused, got.Failed)
				}
			})
		}
	}
}
