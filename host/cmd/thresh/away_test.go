package main_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/postgres"
)

// TestADatabaseThatIsAway: while the database of a service is stopped, or does not answer, every method fails within
// the bound of a call, with an error of one kind, and the service is not ready; afterwards all of it works again.
func TestADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	for how, away := range map[string]func(*postgres.Cluster) (back func()){
		"stopped": func(c *postgres.Cluster) func() { c.Stop(); return c.Run },
		"frozen":  (*postgres.Cluster).Freeze,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			if how == "stopped" && testing.Short() {
				t.Skip("SKIPPED with -short")
			}
			c := postgres.Start(t)
			p := newPlace(t)
			s := p.serveNetwork("--set", "sessions.store="+c.Database(), "--set", "serve.listen=127.0.0.1:0",
				"--set", "compression.strategy=high-density")
			remote := s.client()
			session := func(id string) *client.Session {
				opened, err := remote.Open(t.Context(), client.OpenOptions{ID: id})
				if err == nil {
					_, err = opened.Add(t.Context(), words("hello"))
				}
				if err == nil {
					_, err = opened.Prepare(t.Context(), client.PrepareOptions{})
				}
				if err != nil {
					t.Fatal(err)
				}
				return opened
			}
			added, prepared, set := session("added"), session("prepared"), session("set")
			methods := map[string]func(context.Context) error{
				"Add":     func(ctx context.Context) error { _, err := added.Add(ctx, words("more")); return err },
				"Prepare": func(ctx context.Context) error { _, err := prepared.Prepare(ctx, client.PrepareOptions{}); return err },
				"Set":     func(ctx context.Context) error { value := "0.6"; return set.Set(ctx, "compression.threshold", &value) },
				"Open":    func(ctx context.Context) error { _, err := remote.Open(ctx, client.OpenOptions{ID: "new"}); return err },
				"List": func(ctx context.Context) (err error) {
					for _, e := range remote.Sessions(ctx) {
						err = e
					}
					return err
				},
			}
			back := away(c)
			var wg sync.WaitGroup
			for name, method := range methods {
				wg.Go(func() {
					began := time.Now()
					err := method(t.Context())
					took := time.Since(began)
					var failed *client.Error
					if !errors.As(err, &failed) || failed.Kind != "store" || !failed.Retryable || took > 3*store.CallTimeout {
						t.Errorf("%s, after %v: %v", name, took, err)
					}
					t.Logf("%s, after %v: %v", name, took.Round(time.Second/10), err)
				})
			}
			status, text := s.ready(t)
			for end := time.Now().Add(patience); status == http.StatusOK && time.Now().Before(end); {
				status, text = s.ready(t)
			}
			if !strings.Contains(text, "(gone)") && !strings.Contains(text, "(slow)") {
				t.Errorf("it is %d: %s", status, text)
			}
			wg.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			var failed *client.Error
			if err := methods["List"](ctx); !errors.As(err, &failed) || failed.Kind != "deadline" || !failed.Retryable {
				t.Errorf("with a deadline: %v", err)
			}
			back()
			if !eventually(patience, func() bool { status, _ := s.ready(t); return status == http.StatusOK }) {
				t.Error("it is not ready again")
			}
			for name, method := range methods {
				if err := method(t.Context()); err != nil {
					t.Errorf("%s, when it is back: %v", name, err)
				}
			}
			s.end(syscall.SIGTERM)
		})
	}
}

// ready asks whether the service is ready, which it says at once.
func (s *server) ready(t *testing.T) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.address+"/readyz", nil)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, _ := io.ReadAll(answer.Body)
	if took := time.Since(began); took >= store.CallTimeout { // it waited for the database
		t.Errorf("/readyz took %v", took)
	}
	return answer.StatusCode, string(raw)
}
