package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// Rules that must be in every request, as they stand in JSON.
const (
	saidRule = `RULE 1:\tnever push \"to main\", \\n nor 100% of it ✓`
	fileRule = `RULE 2:\tnever run \"rm\"`
)

var rulesKept = map[string]any{"compression.keep": []any{"CLAUDE.md"}, "compression.keepShare": 1.0,
	"compression.density.cadence": "every-turn"}

func with(set map[string]any, more map[string]any) map[string]any {
	all := map[string]any{}
	for _, m := range []map[string]any{set, more} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

func plain(escaped string) (text string) {
	_ = json.Unmarshal([]byte(`"`+escaped+`"`), &text)
	return text
}

// What a person marks and what a kept file says is in every request that an agent sends, in each form, whatever the
// strategy and the window.
func TestWhatIsKeptIsSent(t *testing.T) {
	race.Skip(t)
	for _, strategy := range []string{"distill", "high-density", "top-down-truncation"} {
		t.Run(strategy, func(t *testing.T) {
			someForms(t, func(t *testing.T, newForm func() form) {
				requests, whole, left := 0, 0, 0
				for _, limit := range []int{12_000, 8000, 5000, 3500} {
					script := append([]modelapi.Turn{{modelapi.Read("CLAUDE.md")}}, work(full.Or(5, 12))...)
					up := provider(t, modelapi.Options{Script: script})
					p := stand(t, up.URL, with(rulesKept, map[string]any{"compression.strategy": strategy,
						"model.contextLimit": limit}))
					a := &agent{form: newForm(), base: p.url, result: func(turn int, c call) string {
						if strings.Contains(c.args, "CLAUDE.md") {
							return "     1\t" + plain(fileRule) + "\n"
						}
						return files(turn, c)
					}}
					prompt := "Fix it.\n<keep>\n" + plain(saidRule) + "\n</keep>"
					if status := a.run(t, prompt); status != http.StatusOK {
						t.Fatalf("%d tokens: %d", limit, status)
					}
					for i, sent := range up.Models() {
						if !strings.Contains(string(sent.Body), saidRule) {
							t.Errorf("%d tokens, request %d: what was said is gone", limit, i)
						}
						if i > 0 && !strings.Contains(string(sent.Body), fileRule) {
							t.Errorf("%d tokens, request %d: the file is gone", limit, i)
						}
						requests++
					}
					of := p.proxy.Totals()
					whole, left = whole+of.Whole, left+of.Sent
				}
				if left >= whole {
					t.Error("nothing was removed: the test tells nothing")
				}
				t.Logf("%d requests, %d of %d tokens sent", requests, left, whole)
			})
		})
	}
}

// The same for messages of a recorded session that come alone, down to the smallest window in which they fit.
func TestWhatIsKeptIsInMessagesThatComeAlone(t *testing.T) {
	race.Skip(t)
	recorded := repo.Messages(t, repo.Samples(t)[0])
	var all []json.RawMessage
	for i, m := range recorded {
		if all = append(all, m); i == 0 {
			all = append(all, raw(`{"role":"assistant","content":[{"type":"tool_use","id":"planted","name":"Read",`+
				`"input":{"file_path":"/home/dev/ratelimit/CLAUDE.md"}}]}`),
				raw(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"planted","content":"1\t%s"},`+
					`{"type":"text","text":"So: <keep>%s</keep>"}]}`, fileRule, saidRule))
		}
	}
	var ends []int
	for i, end := range requests(all) {
		if end >= 3 && i%full.Or(3, 1) == 0 {
			ends = append(ends, end)
		}
	}
	for _, strategy := range []string{"distill", "high-density", "top-down-truncation"} {
		t.Run(strategy, func(t *testing.T) {
			p, _ := stateless(t, with(rulesKept, map[string]any{"compression.strategy": strategy}))
			looked, shrunk, smallest := 0, 0, 0
			for limit := 40_000; limit > 500; limit /= 2 {
				fits := true
				for _, end := range ends {
					a, err := p.Compress(t.Context(), access.Grant{Name: fmt.Sprint(limit)}, api.CompressMessages{
						Messages: all[:end], Format: api.Anthropic, ContextLimit: limit})
					if err != nil && host.ErrorOf(err).Kind == api.KindOverflow {
						fits = false
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					sent := joined(a.Messages)
					for _, rule := range []string{saidRule, fileRule} {
						if !strings.Contains(sent, rule) {
							t.Errorf("%d tokens, %d messages: %s is gone", limit, end, rule)
						}
					}
					looked++
					if a.TokensAfter < a.TokensBefore {
						shrunk++
					}
				}
				if !fits {
					break
				}
				smallest = limit
			}
			if shrunk == 0 {
				t.Error("nothing was removed: the test tells nothing")
			}
			t.Logf("%d requests, %d of them smaller, down to %d tokens", looked, shrunk, smallest)
		})
	}
}
