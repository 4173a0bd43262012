package proxy_test

import (
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// Clients with tokens of their own have sessions of their own, also under the same id, and what exceeds a token's
// limits is refused with its name, or goes unedited. A profile in the path chooses the upstream and the settings.
func TestAFleet(t *testing.T) {
	up, other := provider(t, modelapi.Options{Script: work(2)}), provider(t, modelapi.Options{Script: work(2)})
	var kept store.Store
	p := stand(t, up.URL, map[string]any{"sessions.store": "sqlite:" + filepath.Join(t.TempDir(), "s.db"),
		"profiles.other.proxy.upstreams.anthropic": other.URL,
		"profiles.other.compression.strategy":      "top-down-truncation",
	}, func(o *proxy.Options) {
		kept = o.Host.Store()
		o.Guard = access.NewGuard(kept, "", hclog.NewNullLogger())
	})
	create := func(name string, limits access.Limits, profiles ...string) string {
		token, err := access.Create(t.Context(), kept, name, limits, profiles...)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	alice, bob := create("alice", access.Limits{}), create("bob", access.Limits{}, "other", "none")
	small, one := create("small", access.Limits{RequestBytes: 100}), create("one", access.Limits{Sessions: 1})
	run := func(token, path, id string) int {
		// The parts stand in any order.
		a := &agent{form: messagesForm{id}, base: p.url + path + "/t/" + token, result: files}
		if id == "second" {
			a.base = p.url + "/t/" + token + path
		}
		return a.run(t, "Fix it.")
	}
	for _, tt := range []struct {
		token, path, id string
		want            int
	}{
		{alice, "", "s", http.StatusOK}, {bob, "", "s", http.StatusOK}, {bob, "/p/other", "s", http.StatusOK},
		{bob, "/p/none", "s", http.StatusNotFound}, {small, "", "s", http.StatusRequestEntityTooLarge},
		{"thresh_alice_x", "", "s", http.StatusForbidden}, {alice, "/p/other", "s", http.StatusForbidden},
		{alice, "/p/none", "s", http.StatusForbidden},
		{one, "", "first", http.StatusOK}, {one, "", "second", http.StatusOK},
	} {
		if got := run(tt.token, tt.path, tt.id); got != tt.want {
			t.Errorf("%s %s: %d, want %d", tt.token, tt.path, got, tt.want)
		}
	}
	owners := map[string]int{}
	for h, err := range kept.List(t.Context(), store.Filter{AllOwners: true}) {
		if err != nil {
			t.Fatal(err)
		}
		owners[h.Owner]++
	}
	if owners["alice"] != 1 || owners["bob"] != 2 || owners["one"] != 1 || len(owners) != 3 {
		t.Errorf("sessions by owner: %v", owners)
	}
	if len(other.Models()) == 0 || len(up.Models()) == 0 {
		t.Errorf("the profile's provider got %d requests, the other %d", len(other.Models()), len(up.Models()))
	}
	if p.proxy.Totals().Failed == 0 {
		t.Error("nothing was said of the session that is one too many")
	}
	for _, r := range append(up.Requests(), other.Requests()...) {
		if strings.Contains(r.Path, "thresh_") || strings.Contains(r.Path, "/p/") {
			t.Errorf("passed on: %s", r.Path)
		}
	}
}

// What conversations take of memory is bounded over all of them: those that were used longest ago are deleted with all
// that the store in memory has of them, and begun again when they return.
func TestConversationsTakeBoundedMemory(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(1)})
	var kept store.Store
	p := stand(t, up.URL, map[string]any{"sessions.maxMemory": 800_000, "model.contextLimit": 1_000_000},
		func(o *proxy.Options) { kept = o.Host.Store() })
	ask := func(session string) {
		t.Helper()
		f := messagesForm{session}
		status, answer, err := post(p.url+f.path(), f.header(), f.body([]rawItem{f.user(strings.Repeat(session+" ", 10_000))}))
		if err != nil || status != http.StatusOK {
			t.Fatal(status, err, string(answer))
		}
	}
	for _, session := range []string{"first", "second", "second", "third", "fourth", "first"} {
		ask(session)
	}
	if total := p.proxy.Totals(); total.Forgotten != 3 || total.Failed > 0 || total.Edited != 6 {
		t.Errorf("%d forgotten, %d failed, %d edited", total.Forgotten, total.Failed, total.Edited)
	}
	sessions := func() (ids []string) {
		for h, err := range kept.List(t.Context(), store.Filter{AllOwners: true}) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, h.ID)
		}
		return ids
	}
	for len(sessions()) > 2 { // deleted when no request uses them
		runtime.Gosched()
	}
	if ids := sessions(); !slices.Equal(ids, []string{"claude-first", "claude-fourth"}) {
		t.Errorf("left are %q", ids)
	}
}
