package network

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/service"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
)

// failing is a store whose database goes away.
type failing struct {
	store.Store
	gone bool
}

var errGone = &store.Fault{Cause: store.Gone, Store: "postgres://thresh@10.1.2.3:5432/secret",
	Err: errors.New("dial tcp 10.1.2.3:5432: connection refused")}

func (f *failing) Head(ctx context.Context, key store.Key) (store.Head, error) {
	if f.gone {
		return store.Head{}, errGone
	}
	return f.Store.Head(ctx, key)
}

func (f *failing) Accesses(ctx context.Context) ([]store.Access, error) {
	if f.gone {
		return nil, errGone
	}
	return f.Store.Accesses(ctx)
}

// over serves a store, and returns what posts to it with a token.
func over(t *testing.T, kept store.Store, log io.Writer) (post func(token, method, body string) (int, string)) {
	t.Helper()
	logger := hclog.New(&hclog.LoggerOptions{Output: log})
	machine, err := window.Open(window.Options{Config: settings.Load(t, "", nil), Logger: logger, Store: kept})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(newHandler(Options{Host: host.Of(machine), Store: kept, Log: logger,
		Guard: access.NewGuard(kept, localToken, logger)}, address{loopback: true}, make(chan struct{})))
	t.Cleanup(func() { s.Close(); _ = machine.Close() })
	return func(token, method, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+Path+method,
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
}

func TestClientsDoNotLearnWhereTheStoreIs(t *testing.T) {
	var log strings.Builder
	kept := &failing{Store: store.NewMemory()}
	token, err := access.Create(t.Context(), kept, "alice", access.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	post := over(t, kept, &log)
	kept.gone = true
	for who, token := range map[string]string{"the local user": localToken, "a token": token} {
		status, text := post(token, "session.open", `{"id":"s"}`)
		if status != http.StatusServiceUnavailable || strings.Contains(text, "10.1.2.3") ||
			strings.Contains(text, "secret") || !strings.Contains(text, "the session store cannot be reached") {
			t.Errorf("%s: %d %s", who, status, text)
		}
	}
	if n := strings.Count(log.String(), "10.1.2.3:5432: connection refused"); n != 2 {
		t.Errorf("the log says where it is %d times:\n%s", n, &log)
	}
}

// What no session can be called is refused alike by each method, and makes no lines in the log.
func TestIdsOfSessions(t *testing.T) {
	var log strings.Builder
	post := over(t, store.NewMemory(), &log)
	for _, id := range []string{`a\u0000b`, `a\nb`, `\u001b[31m`, `\u0085`, strings.Repeat("x", 513)} {
		for _, m := range service.At(api.Served) {
			method, body := m.Name, `{"session":"`+id+`"}`
			switch {
			case method == "session.open":
				body = `{"id":"` + id + `"}`
			case m.About != api.ASession && method != "session.delete" && method != "session.watch":
				continue
			}
			status, text := post(localToken, method, body)
			if status != http.StatusBadRequest || !strings.Contains(text, "a session cannot be called this: its id has ") {
				t.Errorf("%s %s: %d %s", method, id, status, text)
			}
		}
		if status, text := post(localToken, "session.list", `{"after":"`+id+`"}`); status != http.StatusBadRequest {
			t.Errorf("a page after %s: %d %s", id, status, text)
		}
	}
	if status, text := post(localToken, "session.open", `{"id":"`+strings.Repeat("ü", 256)+`"}`); status != http.StatusOK {
		t.Errorf("512 bytes: %d %s", status, text)
	}
	for line := range strings.Lines(log.String()) {
		if !strings.Contains(line, "[INFO]") {
			t.Errorf("a line of its own: %q", line)
		}
	}
}
