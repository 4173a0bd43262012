package proxy_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// subagent is a client within the session of another.
type subagent struct{ messagesForm }

func (s subagent) header() http.Header {
	h := s.messagesForm.header()
	h.Set("X-Claude-Code-Agent-Id", "a1")
	return h
}

// What goes on from an earlier request is a session of its own: it begins with what was sent then, byte for byte, also
// in a later process, knows its parent, and has the whole conversation. A compaction of the client's and a subagent have
// a parent too, and nothing of its history.
func TestBranchesAreATree(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(12)})
	settings := map[string]any{"sessions.store": "sqlite:" + filepath.Join(t.TempDir(), "s.db"),
		"compression.strategy": "top-down-truncation", "model.contextLimit": 8000}
	var kept store.Store
	p := stand(t, up.URL, settings, func(o *proxy.Options) { kept = o.Host.Store() })
	a := &agent{form: messagesForm{"s1"}, base: p.url, result: files}
	if status := a.run(t, "Fix it."); status != http.StatusOK {
		t.Fatal(status)
	}
	was, rewrites := up.Models(), p.proxy.Totals().Rewrites
	fork := func(items int, prompt string) {
		t.Helper()
		before := len(up.Models())
		branch := &agent{form: a.form, base: p.url, result: files}
		branch.items = append(branch.items, a.items[:items]...)
		if status := branch.run(t, prompt); status != http.StatusOK {
			t.Error(status)
		}
		// Each request of the parent had two items more than the one before.
		if first := up.Models()[before]; !modelapi.Continues(was[items/2].Body, first.Body) {
			t.Errorf("a fork after %d items begins otherwise than its parent was sent", items)
		}
	}
	late := len(a.items)/4*2 - 3
	fork(late, "Something else.")
	fork(late, "Something better.")
	fork(9, "From the beginning.")
	p.end()
	p = stand(t, up.URL, settings, func(o *proxy.Options) { kept = o.Host.Store() })
	fork(late+2, "Once more.")
	sub := &agent{form: subagent{messagesForm{"s1"}}, base: p.url, result: files}
	compacted := &agent{form: a.form, base: p.url, result: files}
	for _, b := range []*agent{compacted, sub} {
		if status := b.run(t, "A summary of what happened."); status != http.StatusOK {
			t.Error(status)
		}
	}
	if got := p.proxy.Totals(); rewrites == 0 || got.Failed > 0 || len(up.Refused()) > 0 {
		t.Errorf("%d rewrites, then %+v; refused %q", rewrites, got, up.Refused())
	}
	forked := map[string]int{"claude-s1": 0, "claude-s1.2": late, "claude-s1.3": late, "claude-s1.4": 9,
		"claude-s1.5": late + 2, "claude-s1.6": 0, "claude-s1-a1": 0}
	for h, err := range kept.List(t.Context(), store.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		items, known := forked[h.ID]
		if delete(forked, h.ID); !known {
			t.Errorf("a session more: %+v", h)
			continue
		}
		all, err := engine.ReadRecorded(t.Context(), kept, h.Key)
		if err != nil {
			t.Fatal(err)
		}
		// Items and entries are the same in this form.
		switch parent := h.Parent.ID; {
		case h.ID == "claude-s1" && parent == "":
		case h.ID == "claude-s1.6" && parent == "claude-s1.5", h.ID == "claude-s1-a1" && parent == "claude-s1.6":
			if h.ForkedEntries == 0 || len(all.Added) > 10 {
				t.Errorf("%s: %d entries, %+v", h.ID, len(all.Added), h.Origin)
			}
		case parent != "claude-s1" || h.ForkedEntries != items || len(all.Added) <= items:
			t.Errorf("%s: %d entries, %+v", h.ID, len(all.Added), h.Origin)
		}
	}
	if len(forked) > 0 {
		t.Errorf("there are no sessions %v", forked)
	}
}

// Requests of one conversation may go to any of several hosts on one store: each goes on where the other was.
func TestAConversationOnTwoHosts(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm func() form) {
		up := provider(t, modelapi.Options{Script: work(4)})
		settings := map[string]any{"sessions.store": "sqlite:" + filepath.Join(t.TempDir(), "s.db"),
			"compression.density.cadence": "every-turn"}
		var kept store.Store
		hosts := []*standing{stand(t, up.URL, settings),
			stand(t, up.URL, settings, func(o *proxy.Options) { kept = o.Host.Store() })}
		a := &agent{form: newForm(), base: hosts[0].url}
		a.result = func(turn int, c call) string {
			a.base = hosts[turn/2%2].url
			return files(turn, c)
		}
		if status := a.run(t, "Fix it."); status != http.StatusOK {
			t.Fatal(status)
		}
		failed := 0
		for _, h := range hosts {
			if failed += h.proxy.Totals().Failed; h.proxy.Totals().Edited < 3 {
				t.Errorf("a host had %+v", h.proxy.Totals())
			}
		}
		if size, err := kept.Size(t.Context()); failed > 0 || len(up.Refused()) > 0 || err != nil || size.Sessions != 1 {
			t.Errorf("%d failed, %q; %+v, %v", failed, up.Refused(), size, err)
		}
	})
}
