package network

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1"
)

// onStore serves a host that keeps its sessions in a store. The log is that of the host.
func onStore(t *testing.T, kept store.Store) (s *served, log *bytes.Buffer) {
	t.Helper()
	log = &bytes.Buffer{}
	machine, err := engine.Open(engine.Options{
		Config: settings.Load(t, "", nil), Store: kept, Logger: hclog.New(&hclog.LoggerOptions{Output: log}),
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveHost(t, l, time.Minute, host.Over(machine), kept), log
}

// explosive is a store that panics when a session is looked up, once.
type explosive struct {
	store.Store
	armed bool
}

func (e *explosive) Head(ctx context.Context, key store.Key) (store.Head, error) {
	if e.armed {
		e.armed = false
		panic("boom")
	}
	return e.Store.Head(ctx, key)
}

// A method that panics is an error of its caller, in the log as such, and the session goes on.
func TestAMethodThatPanics(t *testing.T) {
	t.Parallel()
	kept := &explosive{Store: store.NewMemory()}
	s, log := onStore(t, kept)
	c := s.client(localToken)
	if _, err := c.Open(t.Context(), &sessionv1.OpenRequest{Session: "s"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Add(t.Context(), &sessionv1.AddRequest{Session: "s", Entries: []string{human}}); err != nil {
		t.Fatal(err)
	}
	failures := map[string]func() error{
		"Get": func() error {
			_, err := c.Get(t.Context(), &sessionv1.GetRequest{Session: "s"})
			return err
		},
		"GetHistory": func() error {
			stream, err := c.GetHistory(t.Context(), &sessionv1.GetHistoryRequest{Session: "s"})
			for err == nil && stream.Receive() {
			}
			return errors.Join(err, stream.Err(), stream.Close())
		},
	}
	for method, call := range failures {
		kept.armed = true
		wantCode(t, method, call(), connect.CodeInternal, "internal")
		got, err := c.Get(t.Context(), &sessionv1.GetRequest{Session: "s"})
		if err != nil || got.GetEntries() != 1 {
			t.Errorf("after %s: %v, %v", method, got, err)
		}
	}
	s.stop()
	if n := strings.Count(log.String(), "(*explosive).Head"); n != 2 {
		t.Errorf("%d stacks in the log:\n%s", n, log)
	}
	if n := strings.Count(s.log.String(), `"outcome":"internal"`); n != 2 {
		t.Errorf("the log of requests:\n%s", s.log)
	}
}

// A session that another process has deleted is a new one when it is opened, and none before that.
func TestASessionThatAnotherProcessDeleted(t *testing.T) {
	t.Parallel()
	kept := store.NewMemory()
	s, _ := onStore(t, kept)
	c := s.client(localToken)
	open := func() *sessionv1.OpenResponse {
		t.Helper()
		opened, err := c.Open(t.Context(), &sessionv1.OpenRequest{Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		return opened
	}
	add := func() error {
		_, err := c.Add(t.Context(), &sessionv1.AddRequest{Session: "s", Entries: []string{human}})
		return err
	}
	for range 2 {
		open()
		if err := add(); err != nil {
			t.Fatal(err)
		}
		if err := kept.Delete(t.Context(), store.Key{ID: "s"}); err != nil {
			t.Fatal(err)
		}
		if got := open(); got.GetEntries() != 0 || got.GetRevision() != 0 {
			t.Errorf("a deleted session is opened as %v", got)
		}
		if err := add(); err != nil {
			t.Errorf("after it was opened: %v", err)
		}
		if err := kept.Delete(t.Context(), store.Key{ID: "s"}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := add(); connect.CodeOf(err) != connect.CodeNotFound {
				t.Errorf("before it was opened: %v", err)
			}
		}
	}
}
