package proxy_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// seen asks a recorder for the data at a path below its page.
func seen(t *testing.T, r *watch.Recorder, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	r.Handler(func(*http.Request) watch.Viewer { return watch.Viewer{} }).ServeHTTP(w,
		httptest.NewRequest(http.MethodGet, watch.Page+path, nil))
	if w.Code != http.StatusOK {
		t.Errorf("%s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// What people are shown adds up to the proxy's totals; a fork names the branch that it is of, and what was removed can
// be read as the client sent it.
func TestWhatPeopleAreShown(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(10)})
	var r *watch.Recorder
	p := stand(t, up.URL, map[string]any{"compression.density.cadence": "every-turn", "model.contextLimit": 9000},
		func(o *proxy.Options) { r = watch.New(o.Host, "x", nil); o.Watch = r })
	a := &agent{form: messagesForm{"s"}, base: p.url, result: files}
	if status := a.run(t, "Fix it."); status != http.StatusOK {
		t.Fatal(status)
	}
	fork := &agent{form: a.form, base: p.url, result: files, items: a.items[:3:3]}
	if status := fork.run(t, "Now something else."); status != http.StatusOK {
		t.Fatal(status)
	}
	var l watch.List
	if err := json.Unmarshal([]byte(seen(t, r, "/sessions")), &l); err != nil || len(l.Sessions) != 2 {
		t.Fatalf("%v: %+v", err, l)
	}
	later, first, totals := l.Sessions[0], l.Sessions[1], p.proxy.Totals()
	if totals.Failed > 0 {
		t.Errorf("%d could not be prepared", totals.Failed)
	}
	if first.Parent != "" || later.Parent != first.ID {
		t.Errorf("%q is of %q, %q of %q", first.ID, first.Parent, later.ID, later.Parent)
	}
	if first.Whole+later.Whole != totals.Whole || first.Sent+later.Sent != totals.Sent ||
		first.Rewrites+later.Rewrites != totals.Rewrites || first.Turns+later.Turns != totals.Edited ||
		first.Usage.Cached+later.Usage.Cached != totals.Usage.CacheRead || totals.Usage.CacheRead == 0 {
		t.Errorf("%+v\n%+v", l.Sessions, totals)
	}
	var d watch.Detail
	if err := json.Unmarshal([]byte(seen(t, r, "/session?session="+first.ID)), &d); err != nil || len(d.Changes) == 0 {
		t.Fatalf("%v: %+v", err, d)
	}
	read := 0
	made := map[string]bool{}
	for _, c := range d.Changes {
		made[c.Entry] = made[c.Entry] || c.Kind == string(outcome.Added)
	}
	for _, c := range d.Changes {
		if made[c.Entry] {
			continue
		}
		text := seen(t, r, "/original?session="+first.ID+"&entry="+url.QueryEscape(c.Entry))
		if strings.Contains(text, "\"quoted\"\nline ") {
			read++
		}
	}
	if read == 0 {
		t.Error("no result that was removed can be read")
	}
	if text := seen(t, r, "/original?session="+later.ID+"&entry=e3"); !strings.Contains(text, "\"quoted\"\nline ") {
		t.Errorf("a fork has the entries of what it is of: %q", text)
	}
}
