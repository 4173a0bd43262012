package proxy_test

import (
	"bytes"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// With a store, a proxy that ended is taken over by the next in the middle of a conversation: what was sent is sent
// again byte for byte, with the ids of removed results, and nothing is prepared anew.
func TestAConversationOutlivesTheProxy(t *testing.T) {
	someForms(t, func(t *testing.T, newForm func() form) {
		up := provider(t, modelapi.Options{Script: work(10)})
		recall := recalls(t, false)
		settings := map[string]any{"sessions.store": "sqlite:" + filepath.Join(t.TempDir(), "s.db"),
			"compression.density.cadence": "every-turn", "model.contextLimit": 9000}
		p := stand(t, up.URL, settings, recall)
		a := &agent{form: recalling{form: newForm()}, base: p.url}
		rewrites := 0
		a.result = func(turn int, c call) string {
			if turn%9 == 8 && c.name != "edit" {
				rewrites += p.proxy.Totals().Rewrites
				p.end()
				p = stand(t, up.URL, settings, recall)
				a.base = p.url
				// A retry of what was asked last gets the same sent.
				last := up.Requests()[len(up.Requests())-1].Body
				if status, _, err := post(a.base+a.form.path(), a.form.header(), a.sent[len(a.sent)-1]); err != nil ||
					status != http.StatusOK {
					t.Errorf("%d, %v", status, err)
				}
				if again := up.Requests()[len(up.Requests())-1].Body; !bytes.Equal(again, last) {
					t.Errorf("turn %d: of %d bytes %d were sent before, now %d", turn, len(a.sent[len(a.sent)-1]),
						len(last), len(again))
				}
			}
			return files(turn, c)
		}
		if status := a.run(t, "Fix it."); status != http.StatusOK {
			t.Error(status)
		}
		rewrites += p.proxy.Totals().Rewrites
		stableBetweenRewrites(t, up.Models(), rewrites)
		if refused := up.Refused(); len(refused) > 0 {
			t.Errorf("refused: %q", refused)
		}
		if len(marks(up.Models())) == 0 {
			t.Error("no removed result has an id")
		}
		// A request of the beginning is a fork: its session is another.
		fork := &agent{form: a.form, base: p.url, result: files, items: a.items[:1:1]}
		if status := fork.run(t, "Something else."); status != http.StatusOK || p.proxy.Totals().Failed > 0 {
			t.Errorf("fork: %d, %+v", status, p.proxy.Totals())
		}
	})
}

// With a store, a conversation that was let go from memory goes on as if it had not been.
func TestAConversationOutlivesItsMemory(t *testing.T) {
	var bodies [2][]string
	for i, most := range []int{0, 1} { // no limit, and one that holds for no conversation but the last
		up := provider(t, modelapi.Options{Script: work(6)})
		p := stand(t, up.URL, map[string]any{"sessions.store": "sqlite:" + filepath.Join(t.TempDir(), "s.db"),
			"sessions.maxMemory": most, "compression.density.cadence": "every-turn"})
		agents := []*agent{{form: messagesForm{"one"}}, {form: chatForm{}}, {form: messagesForm{"two"}}}
		for range 3 {
			for _, a := range agents {
				a.base, a.result = p.url, files
				if status := a.run(t, "Fix it."); status != http.StatusOK {
					t.Errorf("%d bytes: %d", most, status)
				}
			}
		}
		for _, r := range up.Models() {
			bodies[i] = append(bodies[i], string(r.Body))
		}
		if got := p.proxy.Totals(); got.Failed > 0 || got.Forgotten != 8*most {
			t.Errorf("%d bytes: %+v", most, got)
		}
	}
	if !slices.Equal(bodies[0], bodies[1]) {
		t.Error("what was sent differs from what is sent when nothing is let go")
	}
}
