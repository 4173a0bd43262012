package main_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/internal/testkit/postgres"
)

// TestADatabaseThatIsAway: while the database of a service does not answer, every method fails by the bound of a call,
// with an error of one kind, and the service says at once that it is not ready; afterwards all of it works again. (One
// that is stopped is tested with the store.)
func TestADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	c := postgres.Start(t)
	s := newPlace(t).serveNetwork("--set", "sessions.store="+c.Database(), "--set", "serve.listen=127.0.0.1:0",
		"--set", "compression.strategy=high-density")
	remote := s.client()
	session := func(id string) *client.Session {
		opened := s.session(api.OpenRequest{ID: id})
		if _, err := opened.Add(t.Context(), api.Entries(words("hello"))); err != nil {
			t.Fatal(err)
		}
		return opened
	}
	added, prepared, set := session("added"), session("prepared"), session("set")
	methods := map[string]func(context.Context) error{
		"Add":     func(ctx context.Context) error { _, err := added.Add(ctx, api.Entries(words("more"))); return err },
		"Prepare": func(ctx context.Context) error { _, err := prepared.Prepare(ctx, api.PrepareRequest{}); return err },
		"Set": func(ctx context.Context) error {
			return set.Set(ctx, api.SetRequest{Key: "compression.threshold", Value: 0.6})
		},
		"Open": func(ctx context.Context) error { _, err := remote.Open(ctx, api.OpenRequest{ID: "new"}); return err },
		"List": func(ctx context.Context) error { _, err := remote.Sessions(ctx, api.ListRequest{}); return err },
	}
	all := func(check func(ctx context.Context, name string, method func(context.Context) error)) {
		ctx, cancel := context.WithTimeout(t.Context(), patience) // longer than a host may take
		defer cancel()
		var wg sync.WaitGroup
		for name, method := range methods {
			wg.Go(func() { check(ctx, name, method) })
		}
		wg.Wait()
	}
	failed := func(name string, err error, kind string) {
		var failed *api.Error
		if !errors.As(err, &failed) || string(failed.Kind) != kind || !failed.Retryable {
			t.Errorf("%s: %v, want one of kind %s", name, err, kind)
		}
	}
	back := c.Freeze()
	all(func(ctx context.Context, name string, method func(context.Context) error) {
		failed(name, method(ctx), "store")
	})
	ready := func() (bool, string) {
		status, text := fetch(t, s.address+"/readyz", "", "")
		return status == http.StatusOK, text
	}
	if !eventually(patience, func() bool { is, _ := ready(); return !is }) {
		t.Error("it is ready")
	}
	if _, text := ready(); !strings.Contains(text, "(gone)") && !strings.Contains(text, "(slow)") {
		t.Errorf("it says %s", text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	failed("with a deadline", methods["List"](ctx), "deadline")
	back()
	if !eventually(patience, func() bool { is, _ := ready(); return is }) {
		t.Error("it is not ready again")
	}
	all(func(ctx context.Context, name string, method func(context.Context) error) {
		if err := method(ctx); err != nil {
			t.Errorf("%s, when it is back: %v", name, err)
		}
	})
	s.end(syscall.SIGTERM)
}
