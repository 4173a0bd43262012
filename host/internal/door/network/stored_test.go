package network

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
	"github.com/thresh-dev/thresh/sdk/content"
)

// onStore serves a host that keeps its sessions in a store. The log is that of the host.
func onStore(t *testing.T, kept store.Store) (s *served, log *bytes.Buffer) {
	t.Helper()
	log = &bytes.Buffer{}
	machine, err := window.Open(window.Options{
		Config: settings.Load(t, "", nil), Store: kept, Logger: hclog.New(&hclog.LoggerOptions{Output: log}),
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveHost(t, l, time.Minute, host.Of(machine), kept), log
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
	s.call(localToken, "session.open", `{"id":"s"}`).wants(t, "open", http.StatusOK, "")
	s.call(localToken, "history.add", add("s", human)).wants(t, "add", http.StatusOK, "")
	for _, method := range []string{"session.get", "history.get"} {
		kept.armed = true
		s.call(localToken, method, `{"session":"s"}`).wants(t, method, http.StatusInternalServerError, "internal")
		if got := s.call(localToken, "session.get", `{"session":"s"}`); got.result()["entries"] != 1.0 {
			t.Errorf("after %s: %s", method, got.text)
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
	open := func() object {
		t.Helper()
		opened := s.call(localToken, "session.open", `{"id":"s"}`)
		opened.wants(t, "open", http.StatusOK, "")
		return opened.result()
	}
	adds := func(what string, status int, kind string) {
		t.Helper()
		s.call(localToken, "history.add", add("s", human)).wants(t, what, status, kind)
	}
	for range 2 {
		open()
		adds("a new session", http.StatusOK, "")
		if err := kept.Delete(t.Context(), store.Key{ID: "s"}); err != nil {
			t.Fatal(err)
		}
		if got := open(); got["entries"] != 0.0 || got["revision"] != 0.0 {
			t.Errorf("a deleted session is opened as %v", got)
		}
		adds("after it was opened", http.StatusOK, "")
		if err := kept.Delete(t.Context(), store.Key{ID: "s"}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			adds("before it was opened", http.StatusNotFound, "session")
		}
	}
}

// forgetful is a store that loses its connection with the answer to an append, and refuses the calls that follow.
type forgetful struct {
	store.Store
	refuse atomic.Int32
}

func (f *forgetful) down(unknown bool) error {
	return &store.Fault{Cause: store.Gone, Store: "test", Unknown: unknown, Err: errors.New("connection reset")}
}

func (f *forgetful) Append(ctx context.Context, key store.Key, at store.Position, c store.Change) (store.Head, error) {
	h, err := f.Store.Append(ctx, key, at, c)
	if err == nil && f.refuse.Load() > 0 {
		return store.Head{}, f.down(true)
	}
	return h, err
}

func (f *forgetful) Head(ctx context.Context, key store.Key) (store.Head, error) {
	if f.refuse.Add(-1) >= 0 {
		return store.Head{}, f.down(false)
	}
	return f.Store.Head(ctx, key)
}

// An Add whose answer is lost in the store says that it may have happened: it is retryable with a key alone. The client
// makes it again by itself, and it takes place once.
func TestAnAddOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	kept := &forgetful{Store: store.NewMemory()}
	s, _ := onStore(t, kept)
	s.call(localToken, "session.open", `{"id":"s"}`).wants(t, "open", http.StatusOK, "")
	for key, status := range map[string]int{"": http.StatusInternalServerError, "k": http.StatusServiceUnavailable} {
		s.call(localToken, "session.get", `{"session":"s"}`) // takes in what was written
		kept.refuse.Store(1)
		body := func(entries string) string {
			return fmt.Sprintf(`{"session":"s","key":%q,"entries":[%s]}`, key, entries)
		}
		e := s.call(localToken, "history.add", body(human)).wants(t, "add", status, "store")
		if e["maybeApplied"] != true || e["retryable"] != (key != "") {
			t.Errorf("key %q: %v", key, e)
		}
		if key != "" {
			s.call(localToken, "history.add", body(human)).wants(t, "again", http.StatusOK, "")
			s.call(localToken, "history.add", body(human+","+human)).wants(t, "other entries under the key",
				http.StatusBadRequest, "entry")
		}
	}
	ctx := t.Context()
	remote, err := client.New(s.url, client.Options{Token: localToken})
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	session, err := remote.Open(ctx, api.OpenRequest{ID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	kept.refuse.Store(3)
	said := content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: "hello"}}}
	if got, err := session.Add(ctx, api.Entries(said)); err != nil || got.Revision != 3 {
		t.Errorf("the client: %+v, %v", got, err)
	}
	if got, err := session.State(ctx); err != nil || got.Entries != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

// moved is a store that cannot be used for a while.
type moved struct {
	store.Store
	away  atomic.Bool
	asked atomic.Int32
	// hangs, if not nil, keeps whoever asks until it is closed.
	hangs chan struct{}
}

func (m *moved) Ready(context.Context) error {
	m.asked.Add(1)
	if m.hangs != nil {
		<-m.hangs
	}
	if m.away.Load() {
		return &store.Fault{Cause: store.Displaced, Store: "/secret/s.db", Err: errors.New("the file was deleted")}
	}
	return nil
}

// A host whose store cannot be used is not ready, and says why in its log alone.
func TestAHostWhoseStoreIsAway(t *testing.T) {
	t.Parallel()
	kept := &moved{Store: store.NewMemory()}
	s, _ := onStore(t, kept)
	wait := func(want int) string { t.Helper(); return s.waitReady(want) }
	wait(http.StatusOK)
	kept.away.Store(true)
	if text := wait(http.StatusServiceUnavailable); strings.Contains(text, "secret") ||
		!strings.Contains(text, "(displaced)") {
		t.Error(text)
	}
	kept.away.Store(false)
	wait(http.StatusOK)
	s.stop()
	if log := s.log.String(); strings.Count(log, "/secret/s.db") != 1 || !strings.Contains(log, "ready again") {
		t.Errorf("the log:\n%s", log)
	}
}

// A store that does not even say whether it is ready holds no one who asks, and is asked once. The clock is the test's.
func TestAHostWhoseStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &moved{hangs: make(chan struct{})}
		r := &readiness{ask: kept.Ready, log: hclog.NewNullLogger()}
		began := time.Now()
		for range 3 {
			if text := r.problem(); !strings.Contains(text, "(slow)") {
				t.Error(text)
			}
			time.Sleep(readyFor + 1) // until it would be asked again
		}
		if took := time.Since(began); took != readyTimeout+3*(readyFor+1) { // only the first has waited
			t.Errorf("three questions took %v", took)
		}
		if n := kept.asked.Load(); n != 1 {
			t.Errorf("it was asked %d times", n)
		}
		close(kept.hangs)
		synctest.Wait()
		if text := r.problem(); text != "" {
			t.Errorf("not ready again: %s", text)
		}
	})
}

// waitReady asks until the status is as wanted, and returns what is said with it.
func (s *served) waitReady(want int) string {
	t := s.t
	t.Helper()
	for {
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := s.conns.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode == want {
			return string(text)
		}
		select {
		case <-time.After(readyFor / 10):
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}
