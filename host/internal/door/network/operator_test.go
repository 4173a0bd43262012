package network

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/access"
)

// TestTheLogHasALinePerRequestAndNoContent, whether it is answered or refused, and wherever it is refused.
func TestTheLogHasALinePerRequestAndNoContent(t *testing.T) {
	t.Parallel()
	s := loopback(t)
	token := s.token("alice", access.Limits{Requests: 1, RequestBytes: 1000})
	s.call(token, "session.open", `{"id":"s1"}`)
	s.call(token, "history.add", add("s1", human))
	s.call(token, "history.add", add("s1", `{"speaker":"SECRET"}`))
	s.call(token, "history.add", add("s1", `"`+strings.Repeat("SECRET", 1000)+`"`))
	s.call("SECRET", "session.open", `{"id":"s1"}`)
	s.call(token, "window.prepare", `{"session":"s1"}`) // there is no strategy
	s.call(token, "session.open", `{"SECRET":1}`)
	s.call(token, "session.open", `{}`, "Origin", "http://SECRET.example")
	s.call(token, "/v1/None%0aouch", `{}`)
	s.call(token, "/t/SECRET/mcp", `{}`) // where the proxy takes a token
	s.call("", "/t/SECRET/v1/session.open", `{}`)
	_, leave := s.watch(token, `{"session":"s1"}`)
	defer leave()
	s.call(token, "session.get", `{"session":"s1"}`) // one too many at a time
	s.stop()
	if strings.Contains(s.log.String(), "SECRET") {
		t.Errorf("content in the log:\n%s", s.log)
	}
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(s.log.String()), "\n") {
		var l struct {
			Method, Outcome, Session, Owner string
			Ms                              *float64
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Ms == nil {
			t.Fatalf("%s: %v", line, err)
		}
		method := strings.TrimPrefix(l.Method, Path)
		got = append(got, strings.Join([]string{method, l.Session, l.Owner, l.Outcome}, " "))
	}
	want := []string{
		"session.open s1 alice ok", "history.add s1 alice ok", "history.add s1 alice entry",
		"history.add  alice limit", "session.open   access", "window.prepare s1 alice strategy",
		"session.open  alice request", "session.open   access",
		"(nothing is served there)  alice request", "(nothing is served there)  alice http 404",
		"(nothing is served there)   access",
		"session.get  alice limit", "session.watch s1 alice shutdown",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := loopback(t)
	for path, want := range map[string]int{
		"/healthz": http.StatusOK, "/readyz": http.StatusOK, "/metrics": http.StatusUnauthorized,
	} {
		r, err := (&http.Client{Transport: s.conns}).Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
}
