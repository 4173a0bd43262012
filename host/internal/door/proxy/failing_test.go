package proxy_test

import (
	"net/http"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// A strategy whose process ends in each call costs an agent at most the one request over the limit that says so: its
// quarantine is no different from its crashes.
func TestAStrategyThatAlwaysCrashes(t *testing.T) {
	for _, strategy := range []string{"exits-in-calls", "exits-in-calls-by-threshold"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			const limit, requests = 12_000, 60
			up := provider(t, modelapi.Options{Script: work(requests), ContextLimit: limit})
			p := stand(t, up.URL, map[string]any{"compression.strategy": strategy, "model.contextLimit": limit - 2000})
			a := &agent{form: messagesForm{"s"}, base: p.url, result: files}
			a.items = append(a.items, a.form.user("Fix it."))
			refused := 0
			for turn := range requests {
				status, answer := a.ask(t)
				if status != http.StatusOK {
					refused++
					a.items = append(a.items, a.form.user("Go on."))
					continue
				}
				items, calls := a.form.read(answer)
				a.items = append(a.items, items...)
				var texts []string
				for _, c := range calls {
					texts = append(texts, a.result(turn, c))
				}
				a.items = append(a.items, a.form.results(calls, texts)...)
			}
			t.Logf("%d of %d requests were refused; %d turns failed", refused, requests, p.proxy.Totals().Failed)
			if rules := up.Refused(); refused > 1 || len(rules) > 0 {
				t.Errorf("%d of %d requests were refused, and for a rule %q", refused, requests, rules)
			}
		})
	}
}
