package proxy_test

import (
	"net/http"
	"testing"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// preparing is an agent loop that adds its messages to a session and sends what that prepares.
type preparing struct {
	form
	test    *testing.T
	session *host.Session
	added   *int
	edited  *int
}

func (f preparing) body(items []rawItem) []byte {
	_, err := f.session.Add(f.test.Context(), api.AddRequest{Format: api.Anthropic, Messages: items[*f.added:]})
	if err != nil {
		f.test.Fatal(err)
	}
	*f.added = len(items)
	ready, err := f.session.Prepare(f.test.Context(), api.PrepareRequest{Format: api.Anthropic})
	if err != nil {
		f.test.Fatal(err)
	}
	if len(joined(ready.Messages)) < len(joined(items)) {
		*f.edited++
	}
	return f.form.body(ready.Messages)
}

// What window.prepare gives can be sent to a model that binds its thinking: nothing is refused.
func TestWhatAWindowPreparesIsNeverRefused(t *testing.T) {
	for _, strategy := range strategies[:full.Or(3, 5)] {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			up := provider(t, modelapi.Options{Script: work(12), Binds: true})
			_, h := stateless(t, writing(t, map[string]any{"compression.strategy": strategy, "model.contextLimit": 8000,
				"model.name": "claude-opus-5-5", "compression.density.cadence": "every-turn"}))
			session, err := host.Of(h).Open(t.Context(), api.OpenRequest{})
			if err != nil {
				t.Fatal(err)
			}
			added, edited := 0, 0
			a := &agent{form: preparing{thinkingForm("claude-opus-5-5"), t, session, &added, &edited}, base: up.URL, result: files}
			status := a.run(t, "Fix it.")
			t.Logf("%d requests, %d edited, %d refused", len(a.sent), edited, len(up.Refused()))
			if status != http.StatusOK || len(up.Refused()) > 0 || edited == 0 {
				t.Errorf("%d, %d edited; refused: %q", status, edited, up.Refused())
			}
		})
	}
}
