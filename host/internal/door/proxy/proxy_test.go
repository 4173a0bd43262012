package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

var forms = map[string]func() form{
	"messages":  func() form { return thinkingForm("claude-opus-5-5") }, // the newest model's rules first
	"older":     func() form { return messagesForm{"s1"} },
	"chat":      func() form { return chatForm{} },
	"responses": func() form { return responsesForm{"s1"} },
	"gemini":    func() form { return geminiForm{} },
}

// eachForm runs a test for each API.
func eachForm(t *testing.T, test func(*testing.T, func() form)) {
	ofForms(t, []string{"messages", "chat", "responses", "gemini", "older"}[:full.Or(4, 5)], test)
}

// someForms is eachForm for what differs in nothing but the bytes of a request: a short run has two of them.
func someForms(t *testing.T, test func(*testing.T, func() form)) {
	ofForms(t, []string{"messages", "responses", "chat", "gemini", "older"}[:full.Or(2, 5)], test)
}

func ofForms(t *testing.T, names []string, test func(*testing.T, func() form)) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, forms[name]) })
	}
}

// files answers calls as a project does: reads are long, and each differs.
func files(turn int, c call) string {
	did := "turn"
	if c.name == "edit" {
		did = "edited"
	}
	return fmt.Sprintf("%s %d: %s %s\n", did, turn, c.name, c.args) + strings.Repeat(fmt.Sprintf("line %d "+
		"\"quoted\"\n", turn), 150)
}

// work is a script that reads, edits and reads again many times, which gives strategies of both triggers work to do.
func work(rounds int) (turns []modelapi.Turn) {
	for i := range rounds {
		path := fmt.Sprintf("f%d.go", i%3)
		turns = append(turns, modelapi.Turn{modelapi.Read(path)}, modelapi.Turn{modelapi.Edit(path, "a", "b")},
			modelapi.Turn{modelapi.Run("go test"), modelapi.Read("other.go")})
	}
	return turns
}

// A whole conversation with pruning and compression: a provider that checks everything refuses nothing, requests stay
// small, and every byte that was not edited is the client's.
func TestAConversationIsKeptSmallAndValid(t *testing.T) {
	for strategy, settings := range map[string]map[string]any{
		"high-density":        {"compression.density.cadence": "every-turn"},
		"top-down-truncation": {},
	} {
		t.Run(strategy, func(t *testing.T) {
			eachForm(t, func(t *testing.T, newForm func() form) {
				const limit = 12_000
				up := provider(t, modelapi.Options{Script: work(12), ContextLimit: limit})
				set := map[string]any{"compression.strategy": strategy, "model.contextLimit": 8000}
				for k, v := range settings {
					set[k] = v
				}
				p := stand(t, up.URL, set)
				a := &agent{form: newForm(), base: p.url, result: files}
				if status := a.run(t, "Fix it."); status != http.StatusOK {
					t.Errorf("the conversation ended with %d", status)
				}
				if refused := up.Refused(); len(refused) > 0 {
					t.Errorf("refused: %q", refused)
				}
				sent := up.Models()
				if len(sent) != len(a.sent) {
					t.Fatalf("%d requests, the provider got %d", len(a.sent), len(sent))
				}
				for i, r := range sent {
					if err := modelapi.OnlyEdits(a.sent[i], r.Body); err != nil {
						t.Error(err)
					}
				}
				last := len(sent) - 1
				if len(sent[last].Body) > len(a.sent[last])/2 {
					t.Errorf("of %d bytes %d were sent", len(a.sent[last]), len(sent[last].Body))
				}
				stableBetweenRewrites(t, sent, p.proxy.Totals().Rewrites)
				if total := p.proxy.Totals(); total.Failed > 0 || total.Usage.Prompt() == 0 || total.Edited != len(a.sent) {
					t.Errorf("totals: %+v", total)
				}
			})
		})
	}
}

// stableBetweenRewrites checks that requests begin as the one before, but for the rewrites that were counted.
func stableBetweenRewrites(t *testing.T, sent []*modelapi.Request, rewrites int) {
	t.Helper()
	breaks := 0
	for i := 1; i < len(sent); i++ {
		if !modelapi.Continues(sent[i-1].Body, sent[i].Body) {
			breaks++
		}
	}
	if breaks > rewrites {
		t.Errorf("the beginning changed %d times, in %d rewrites", breaks, rewrites)
	}
}
