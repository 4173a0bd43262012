package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

var forms = map[string]func() form{
	"messages":  func() form { return messagesForm{"s1"} },
	"chat":      func() form { return chatForm{} },
	"responses": func() form { return responsesForm{"s1"} },
	"gemini":    func() form { return geminiForm{} },
}

// eachForm runs a test for each API.
func eachForm(t *testing.T, test func(*testing.T, func() form)) {
	for _, name := range []string{"messages", "chat", "responses", "gemini"} {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, forms[name]) })
	}
}

// files answers calls as a project does: reads are long, and each differs.
func files(turn int, c call) string {
	return fmt.Sprintf("turn %d: %s %s\n", turn, c.name, c.args) + strings.Repeat(fmt.Sprintf("line %d \"quoted\"\n", turn), 150)
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
					onlyEdits(t, a.sent[i], r.Body)
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

// onlyEdits checks a request that was sent against the client's: outside of the conversation it is the same, and of
// the conversation each part is the client's, a result with another text, or new text.
func onlyEdits(t *testing.T, client, sent []byte) {
	t.Helper()
	was, now := decode(t, client), decode(t, sent)
	var list string
	for _, k := range []string{"messages", "input", "contents"} {
		if _, ok := was[k]; ok {
			list = k
		}
	}
	for k, v := range was {
		if k != list && !bytes.Equal(v, now[k]) {
			t.Errorf("%s changed", k)
		}
	}
	had := map[string]bool{}
	for _, part := range parts(t, was[list]) {
		had[part] = true
	}
	for _, part := range parts(t, now[list]) {
		if !had[part] && !had[withoutText(part)] && !strings.Contains(part, `"text"`) {
			t.Errorf("sent, but not the client's: %.300s", part)
		}
	}
}

func decode(t *testing.T, body []byte) map[string]json.RawMessage {
	t.Helper()
	var out map[string]json.RawMessage
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// parts returns the parts of all items, each as it is and without the text of its result. Cache markers, which may
// move, are taken off.
func parts(t *testing.T, list json.RawMessage) (out []string) {
	t.Helper()
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		var inner []json.RawMessage
		for _, k := range []string{"content", "parts"} {
			_ = json.Unmarshal(item[k], &inner)
		}
		if inner == nil {
			whole, _ := json.Marshal(item)
			inner = []json.RawMessage{whole}
		}
		for _, part := range inner {
			s := strings.Replace(string(part), `,"cache_control":{"type":"ephemeral"}`, "", 1)
			out = append(out, s, withoutText(s))
		}
	}
	return out
}

// withoutText takes off the result's text.
func withoutText(part string) string {
	for _, field := range []string{`"content":"`, `"output":"`} {
		if i := strings.Index(part, field); i >= 0 {
			end := i + len(field)
			for part[end] != '"' || part[end-1] == '\\' {
				end++
			}
			return part[:i] + part[end+1:]
		}
	}
	return part
}

// stableBetweenRewrites checks that requests begin as the one before, but for the rewrites that were counted.
func stableBetweenRewrites(t *testing.T, sent []*modelapi.Request, rewrites int) {
	t.Helper()
	breaks := 0
	for i := 1; i < len(sent); i++ {
		a, b := parts(t, conversation(t, sent[i-1].Body)), parts(t, conversation(t, sent[i].Body))
		if len(b) < len(a) || !slices.Equal(a, b[:len(a)]) {
			breaks++
		}
	}
	if breaks > rewrites {
		t.Errorf("the beginning changed %d times, in %d rewrites", breaks, rewrites)
	}
}

func conversation(t *testing.T, body []byte) json.RawMessage {
	o := decode(t, body)
	for _, k := range []string{"messages", "input", "contents"} {
		if v, ok := o[k]; ok {
			return v
		}
	}
	t.Fatal("no conversation")
	return nil
}
