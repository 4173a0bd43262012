package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// thresh top finds what the user runs, a proxy and a service, by files that only the user can read; a proxy that was
// killed is not asked again. The page of each is served next to it.
func TestTop(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.run("top").failed(t, 1, "no host runs: nothing answered at http://127.0.0.1:")
	up := modelapi.New(modelapi.Options{})
	defer up.Close()
	a := p.printing(up)
	if status, text := fetch(t, a.url+"/v1/messages", "k", hello, "X-Thresh-Session", "mine"); status != 200 {
		t.Fatal(text)
	}
	s := p.serveNetwork("--set", "serve.listen=127.0.0.1:0")
	listen := "serve.listen=" + strings.TrimPrefix(s.address, "http://")
	theirs, quiet := s.session(api.OpenRequest{ID: "theirs"}), s.session(api.OpenRequest{ID: "quiet"})
	for _, session := range []*client.Session{theirs, quiet} {
		if _, err := session.Add(t.Context(), api.Entries(words("hello"))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := theirs.Prepare(t.Context(), api.PrepareRequest{}); err != nil { // the other is only stored
		t.Fatal(err)
	}
	var all struct {
		Hosts []struct {
			Name     string
			Sessions []struct {
				ID, Model   string
				Turns, Sent int
				Stored      *struct{ Entries, Tokens int }
			}
		}
	}
	top := func(args ...string) string { return p.beside(append([]string{"top", "--set", listen}, args...)...) }
	shown := top("-o", "json")
	if err := json.Unmarshal([]byte(shown), &all); err != nil || len(all.Hosts) != 2 {
		t.Fatalf("%v: %s", err, shown)
	}
	service, proxy := all.Hosts[0], all.Hosts[1]
	if service.Name != "serve" || len(service.Sessions) != 2 ||
		proxy.Name != "wrap" || len(proxy.Sessions) != 1 || proxy.Sessions[0].ID != "mine" ||
		proxy.Sessions[0].Model != "m" || proxy.Sessions[0].Turns != 1 || proxy.Sessions[0].Sent == 0 {
		t.Errorf("%s", shown)
	}
	for _, one := range service.Sessions {
		if stored := one.ID == "quiet"; stored != (one.Stored != nil) || stored && one.Stored.Entries != 1 {
			t.Errorf("%s", shown)
		}
	}
	if shown := top(); !strings.Contains(shown, "wrap at "+a.url+": 1 session; ") ||
		!strings.Contains(shown, "\nmine ") {
		t.Errorf("%s", shown)
	}
	// The page's data needs the token behind the #.
	pages := strings.Fields(top("--page"))
	for _, page := range pages {
		address, token, _ := strings.Cut(page, "#")
		status, text := fetch(t, address+"/sessions", token, "")
		if refused, _ := fetch(t, address+"/sessions", "", ""); status != 200 || !strings.Contains(text, `"turns":1`) ||
			refused != 401 {
			t.Errorf("%s: %d %s; without a token %d", address, status, text, refused)
		}
		_, text = fetch(t, address+"/session?session=quiet", token, "")
		if serves := strings.HasPrefix(address, s.address); serves != strings.Contains(text, `"added":1,"addedTokens":`) {
			t.Errorf("%s: %s", address, text)
		}
	}
	if len(pages) != 2 {
		t.Errorf("pages: %q", pages)
	}
	a.interrupt()
	// One that was killed could not remove its file: another process may listen there by now.
	if left, _ := filepath.Glob(p.path("home", ".local", "state", "thresh", "wrap-*.json")); len(left) > 0 {
		t.Errorf("%q are there after the end", left)
	}
	runs := func(pid int, url string) {
		file := p.path("home", ".local", "state", "thresh", fmt.Sprintf("wrap-%d.json", pid))
		if err := os.WriteFile(file, fmt.Appendf(nil, `{"pid":%d,"url":%q,"token":"x"}`, pid, url), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runs(a.cmd.Process.Pid, up.URL)
	if shown := top(); strings.Contains(shown, "wrap at") || len(up.Requests()) != 1 {
		t.Errorf("a proxy that was killed is asked: %s", shown)
	}
	// What a host says of itself controls no terminal: a command can have any name, and a store's errors any words.
	rude := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"name":"\u001b[2Jagent","error":"no\u001b]0;taken\u0007\nstore"}`)
	}))
	defer rude.Close()
	runs(os.Getpid(), rude.URL)
	if shown := top(); !strings.Contains(shown, "\ufffd[2Jagent at "+rude.URL+": 0 sessions; ") ||
		!strings.HasSuffix(shown, "\nthe stored sessions are missing: no\ufffd]0;taken\ufffd store\n") {
		t.Errorf("%q", shown)
	}
	s.end(syscall.SIGTERM)
}

// fetch makes a request of a service with a token; with a body it is a POST.
func fetch(t *testing.T, url, token, body string, header ...string) (status int, text string) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	q, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(all)
}
