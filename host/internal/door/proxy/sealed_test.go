package proxy_test

import (
	"bytes"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// thinkingForm is a client of a model that decides by itself when it thinks.
func thinkingForm(model string) form {
	return editedForm{messagesForm{"s1"}, strings.NewReplacer(`"claude-test"`, `"`+model+`"`,
		`{"type":"enabled","budget_tokens":50}`, `{"type":"adaptive"}`)}
}

// A conversation that was begun without thresh has thinking behind the client's own bytes, which the first rewrite unseals.
func TestThinkingFromBeforeThreshIsLeftOut(t *testing.T) {
	t.Parallel()
	up := provider(t, modelapi.Options{Script: work(12)})
	a := &agent{form: thinkingForm("claude-opus-5-5"), base: up.URL, result: files}
	a.run(t, "Fix it.")
	p := stand(t, up.URL, map[string]any{"compression.strategy": "distill", "model.contextLimit": 5000})
	a.base = p.url
	before := len(up.Models())
	if status := a.run(t, "Go on."); status != http.StatusOK || len(up.Refused()) > 0 {
		t.Errorf("%d; refused: %q", status, up.Refused())
	}
	first := up.Models()[before]
	if sent, asked := thoughts(first.Body), thoughts(a.sent[len(a.sent)-len(up.Models())+before]); sent >= asked {
		t.Errorf("the first request through thresh has %d of %d thoughts", sent, asked)
	}
}

func thoughts(body []byte) int {
	return bytes.Count(body, []byte(`"type":"thinking"`)) + bytes.Count(body, []byte(`"type":"redacted_thinking"`))
}

// Anthropic's newest models take thinking back only behind what it was made behind: what a rewrite unseals is left out,
// what stands before it and what comes behind it is sent, and nothing is refused.
func TestThinkingBehindARewriteIsLeftOut(t *testing.T) {
	for strategy, set := range map[string]map[string]any{
		"distill":             {"model.contextLimit": 8000},
		"high-density":        {"model.contextLimit": 8000, "compression.density.cadence": "every-turn"},
		"top-down-truncation": {"model.contextLimit": 8000},
	} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			set["compression.strategy"] = strategy
			up := provider(t, modelapi.Options{Script: work(12), Thinks: func(n int) []string {
				return [][]string{{"thinking"}, {"thinking", "redacted_thinking"}, {}}[n%3]
			}})
			p := stand(t, up.URL, set)
			a := &agent{form: thinkingForm("claude-opus-5-5"), base: p.url, result: files}
			if status := a.run(t, "Fix it."); status != http.StatusOK {
				t.Errorf("the conversation ended with %d", status)
			}
			if refused := up.Refused(); len(refused) > 0 {
				t.Errorf("refused: %q", refused)
			}
			sent, some := up.Models(), 0
			for i, r := range sent {
				if err := modelapi.OnlyEdits(a.sent[i], r.Body); err != nil {
					t.Error(err)
				}
				if n := thoughts(r.Body); n > 0 && n < thoughts(a.sent[i]) {
					some++
				}
			}
			last := len(sent) - 1
			if p.proxy.Totals().Rewrites == 0 || len(sent[last].Body) > len(a.sent[last])*3/4 {
				t.Errorf("%d rewrites; of %d bytes %d were sent", p.proxy.Totals().Rewrites, len(a.sent[last]),
					len(sent[last].Body))
			}
			if some == 0 {
				t.Error("no request had some of its thinking")
			}
			stableBetweenRewrites(t, sent, p.proxy.Totals().Rewrites)
		})
	}
}

// What the proxy cannot know a refusal teaches, once: a model that the table does not have, a system prompt that the
// client changed. What is no turn, what another process or a fork goes on with, and what fails, is not refused at all.
func TestARefusalOfThinkingIsAnsweredOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		model  string
		resent int
		then   func(t *testing.T, up *modelapi.Server, p *standing, a *agent)
	}{
		"an unknown model": {model: "claude-test", resent: 1},
		"another conversation of it": {"claude-test", 1, func(t *testing.T, _ *modelapi.Server, p *standing, a *agent) {
			other := &agent{form: editedForm{a.form, strings.NewReplacer("You are a test.", "You are new.")}, base: p.url,
				result: files}
			if status := other.run(t, "Something else."); status != http.StatusOK {
				t.Error(status)
			}
		}},
		"a compaction of the client": {"claude-opus-5-5", 0, func(t *testing.T, _ *modelapi.Server, p *standing, a *agent) {
			a.items = append(a.items, a.form.user("CRITICAL: Respond with TEXT ONLY"))
			if status, answer := a.ask(t); status != http.StatusOK {
				t.Errorf("%d %s", status, answer)
			}
		}},
		"a question for tokens": {"claude-opus-5-5", 0, func(t *testing.T, _ *modelapi.Server, p *standing, a *agent) {
			status, answer, err := post(p.url+"/v1/messages/count_tokens", a.form.header(), a.sent[len(a.sent)-1])
			if err != nil || status != http.StatusOK {
				t.Errorf("%d %s %v", status, answer, err)
			}
		}},
		"forks": {"claude-opus-5-5", 0, func(t *testing.T, _ *modelapi.Server, p *standing, a *agent) {
			for _, at := range []int{1, 9, 21, 33} {
				fork := &agent{form: a.form, base: p.url, result: files, items: a.items[:at:at]}
				if status := fork.run(t, "Something else."); status != http.StatusOK {
					t.Errorf("fork at %d: %d", at, status)
				}
			}
		}},
		"another system prompt": {"claude-opus-5-5", 1, func(t *testing.T, _ *modelapi.Server, p *standing, a *agent) {
			a.form = editedForm{a.form, strings.NewReplacer("You are a test.", "You are another.")}
			if status := a.run(t, "Go on."); status != http.StatusOK {
				t.Error(status)
			}
		}},
		"a restart": {"claude-opus-5-5", 0, func(t *testing.T, up *modelapi.Server, p *standing, a *agent) {
			p.end()
			a.base = stand(t, up.URL, map[string]any{"compression.strategy": "high-density",
				"compression.density.cadence": "every-turn", "model.contextLimit": 100_000, "sessions.store": p.store}).url
			if status := a.run(t, "Go on."); status != http.StatusOK {
				t.Error(status)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := "sqlite:" + filepath.Join(t.TempDir(), "s.db")
			up := provider(t, modelapi.Options{Script: work(11), Binds: true})
			p := stand(t, up.URL, map[string]any{"compression.strategy": "high-density",
				"compression.density.cadence": "every-turn", "model.contextLimit": 100_000, "sessions.store": store})
			p.store = store
			a := &agent{form: thinkingForm(tt.model), base: p.url, result: files}
			if status := a.run(t, "Fix it."); status != http.StatusOK {
				t.Errorf("the conversation ended with %d", status)
			}
			if tt.then != nil {
				tt.then(t, up, p, a)
			}
			if refused := up.Refused(); len(refused) != tt.resent || p.proxy.Totals().Resent != tt.resent && name != "a restart" {
				t.Errorf("refused: %q, sent again: %d", refused, p.proxy.Totals().Resent)
			}
			if total := p.proxy.Totals(); total.Rewrites == 0 || total.Failed > 0 {
				t.Errorf("totals: %+v", total)
			}
		})
	}
}
