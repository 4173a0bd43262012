package proxy_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// named is a client that sends headers of its own.
type named struct {
	messagesForm
	headers [][2]string
}

func (n named) header() http.Header {
	h := n.messagesForm.header()
	for _, set := range n.headers {
		h.Set(set[0], set[1])
	}
	return h
}

// subagent is a client within the session of another.
func subagent(session string) named {
	return named{messagesForm{session}, [][2]string{{"X-Claude-Code-Agent-Id", "a1"}}}
}

// What goes on from an earlier request is a session of its own: it begins with what was sent then, byte for byte,
// with a store also in a later process, knows its parent, and has the whole conversation. A compaction of the
// client's and a subagent have a parent too, and nothing of its history.
func TestBranchesAreATree(t *testing.T) {
	for _, in := range []string{"memory", "sqlite:" + filepath.Join(t.TempDir(), "s.db")} {
		kind, _, _ := strings.Cut(in, ":")
		t.Run(kind, func(t *testing.T) { branchesAreATree(t, in) })
	}
}

func branchesAreATree(t *testing.T, in string) {
	up := provider(t, modelapi.Options{Script: work(12)})
	settings := map[string]any{"sessions.store": in,
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
	if in != "memory" {
		p.end()
		p = stand(t, up.URL, settings, func(o *proxy.Options) { kept = o.Host.Store() })
	}
	fork(late+2, "Once more.")
	sub := &agent{form: subagent("s1"), base: p.url, result: files}
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
		all, err := journal.Read(t.Context(), kept, h.Key)
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

// Clients tell in headers of their own which conversation has begun a subagent's.
func TestSubagentsHaveAParent(t *testing.T) {
	up := provider(t, modelapi.Options{})
	var kept store.Store
	p := stand(t, up.URL, nil, func(o *proxy.Options) { kept = o.Host.Store() })
	for _, client := range []struct{ name, id, parent string }{
		{"codex", "Thread-Id", "X-Codex-Parent-Thread-Id"}, {"opencode", "X-Session-Id", "X-Parent-Session-Id"},
		{"opencode-affinity", "X-Session-Affinity", "X-Parent-Session-Id"},
	} {
		main := named{headers: [][2]string{{client.id, client.name}}}
		sub := named{headers: [][2]string{{client.id, client.name + "-sub"}, {client.parent, client.name}}}
		for _, f := range []named{main, sub} {
			if status := (&agent{form: f, base: p.url, result: files}).run(t, "Fix it."); status != http.StatusOK {
				t.Fatal(status)
			}
		}
		kind, _, _ := strings.Cut(client.name, "-")
		h, err := kept.Head(t.Context(), store.Key{ID: kind + "-" + client.name + "-sub"})
		if err != nil || h.Parent.ID != kind+"-"+client.name || h.ForkedEntries == 0 {
			t.Errorf("%s: %+v, %v", client.name, h.Origin, err)
		}
	}
}

// A session that a command deletes while its agent works is begun again with the agent's next request.
func TestASessionIsDeletedUnderItsAgent(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(4)})
	var kept store.Store
	p := stand(t, up.URL, nil, func(o *proxy.Options) { kept = o.Host.Store() })
	key := store.Key{ID: "claude-s1"}
	a := &agent{form: messagesForm{"s1"}, base: p.url, result: func(turn int, c call) string {
		if turn == 3 {
			if err := kept.Delete(t.Context(), key); err != nil {
				t.Error(err)
			}
		}
		return files(turn, c)
	}}
	if status := a.run(t, "Fix it."); status != http.StatusOK {
		t.Fatal(status)
	}
	all, err := journal.Read(t.Context(), kept, key)
	// What follows the last request is the answer to it.
	if got := p.proxy.Totals(); got.Failed > 0 || err != nil || len(all.Added) != len(a.items)-1 {
		t.Errorf("%d of %d entries, %v; %+v", len(all.Added), len(a.items), err, got)
	}
}
