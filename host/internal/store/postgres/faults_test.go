package postgres_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/postgres"
	"github.com/thresh-dev/thresh/host/internal/store/storetest"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	cluster "github.com/thresh-dev/thresh/internal/testkit/postgres"
)

var faults = flag.Duration("faults", 0, "how long each test with faults goes on; 0: 1s with -short, otherwise 15s")

func faultsFor() time.Duration { return cmp.Or(*faults, time.Duration(full.Or(1, 15))*time.Second) }

func during(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), faultsFor())
	t.Cleanup(cancel)
	return ctx
}

func testLinearizable(t *testing.T, c *cluster.Cluster) {
	url := c.Database()
	storetest.Linearizable(during(t), t, true, open(t, url), open(t, url))
}

// Every connection is cut again and again, in the middle of what is said on it.
func testCutConnections(t *testing.T, c *cluster.Cluster) {
	p := startProxy(t, c.Socket())
	url := strings.Replace(c.Database(), filepath.Dir(c.Socket()), p.dir, 1)
	a, b := open(t, url), open(t, url)
	ctx, stop := context.WithCancel(t.Context())
	cuts := make(chan int, 1)
	go func() {
		defer stop()
		n := 0
		for began := time.Now(); ctx.Err() == nil && (n < 5 || time.Since(began) < faultsFor()); n++ {
			p.pass(ctx, 300) // on a slow machine, it takes more than a moment to connect again
			pause(ctx, 200*time.Millisecond)
			p.cut()
		}
		cuts <- n
	}()
	storetest.Linearizable(ctx, t, false, a, b)
	t.Logf("%d times all connections were cut", <-cuts)
}

// What was acknowledged is there after restarts that nobody announced, once, and every append comes to an end.
func testRestarts(t *testing.T, c *cluster.Cluster) {
	url := c.Database()
	ctx := during(t)
	const sessions = 8
	acknowledged := make([][]string, sessions)
	s := open(t, url)
	// Up for longer than down, on a slow machine too: an append tries for ten seconds only.
	restarts := repeat(ctx, func() { began := time.Now(); c.Restart(); pause(ctx, time.Second+time.Since(began)) })
	var wg sync.WaitGroup
	for i := range sessions {
		key := store.Key{ID: fmt.Sprint("s", i)}
		wg.Go(func() {
			h, err := s.Create(t.Context(), key, store.Origin{})
			for refused(err) {
				h, err = s.Create(t.Context(), key, store.Origin{})
			}
			for n := 0; (ctx.Err() == nil || n < 3) && err == nil; n++ { // a restart may outlast the time
				text := fmt.Sprintf("%d.%d", i, n)
				change := store.Change{Records: []store.Record{{Kind: store.Added, Data: []byte(text)}}}
				next, failed := s.Append(t.Context(), key, h.Position(), change)
				if refused(failed) {
					continue
				}
				if h, err = next, failed; err == nil {
					acknowledged[i] = append(acknowledged[i], text)
				}
			}
			if err != nil {
				t.Errorf("session %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	t.Logf("%d restarts", <-restarts)
	total := 0
	for i := range sessions {
		var got []string
		for r, err := range s.Records(t.Context(), store.Key{ID: fmt.Sprint("s", i)}, store.Choice{}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(r.Data))
		}
		if want := acknowledged[i]; strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("session %d has %q, acknowledged were %q", i, got, want)
		}
		total += len(got)
	}
	if total == 0 {
		t.Error("nothing was appended")
	}
}

// refused reports whether the database was down for as long as a call tries, and has not seen it.
func refused(err error) bool {
	var fault *store.Fault
	return errors.As(err, &fault) && fault.Cause == store.Gone && !fault.Unknown
}

func testErrors(t *testing.T, c *cluster.Cluster) {
	url := c.Database()
	s := open(t, url)
	ctx := t.Context()
	if _, err := s.Create(ctx, store.Key{ID: "s"}, store.Origin{}); err != nil {
		t.Fatal(err)
	}

	c.Exec(url, "CREATE ROLE guest LOGIN")
	_, err := postgres.Open(ctx, strings.Replace(url, "thresh@", "guest@", 1))
	wantCause(t, err, store.Denied)

	c.Stop()
	for _, call := range []func(context.Context) error{
		func(ctx context.Context) error { _, err := s.Head(ctx, store.Key{ID: "s"}); return err },
		func(ctx context.Context) error { _, err := postgres.Open(ctx, url); return err },
	} {
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		wantCause(t, call(short), store.Gone)
		cancel()
	}
	c.Run()
	if _, err := s.Head(ctx, store.Key{ID: "s"}); err != nil {
		t.Errorf("after the database came back: %v", err)
	}
}

func testMissingRecords(t *testing.T, c *cluster.Cluster) {
	url := c.Database()
	s := open(t, url)
	key := store.Key{ID: "s"}
	h, err := s.Create(t.Context(), key, store.Origin{})
	if err == nil {
		one := store.Record{Kind: store.Added, Data: []byte("x")}
		_, err = s.Append(t.Context(), key, h.Position(), store.Change{Records: []store.Record{one, one, one}})
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Exec(url, "DELETE FROM thresh_record WHERE seq = 2")
	wantCause(t, s.Check(t.Context()), store.Corrupt)
	read := 0
	for _, err := range s.Records(t.Context(), key, store.Choice{}) {
		if err == nil {
			read++
			continue
		}
		wantCause(t, err, store.Corrupt)
	}
	if read != 1 {
		t.Errorf("%d records were read, want the one before the gap", read)
	}
}

func wantCause(t *testing.T, err error, cause store.Cause) {
	t.Helper()
	if !store.IsCause(err, cause) {
		t.Errorf("got %v, want the cause %q", err, cause)
	} else {
		t.Log(err)
	}
}

// A database that takes connections and says nothing holds no call for longer than its bound, whatever the call is; and
// what it says of a write is that it may have been made.
func testStalls(t *testing.T, c *cluster.Cluster) {
	p := startProxy(t, c.Socket())
	s := open(t, strings.Replace(c.Database(), filepath.Dir(c.Socket()), p.dir, 1))
	key := store.Key{ID: "s"}
	h, err := s.Create(t.Context(), key, store.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	change := store.Change{Records: []store.Record{{Kind: store.Added, Data: []byte("x")}}}
	calls := map[string]func(context.Context) error{
		"head":   func(ctx context.Context) error { _, err := s.Head(ctx, key); return err },
		"ready":  s.Ready,
		"append": func(ctx context.Context) error { _, err := s.Append(ctx, key, h.Position(), change); return err },
		"lease":  func(ctx context.Context) error { _, err := s.Lease(ctx, key, "h", time.Hour); return err },
		"delete": func(ctx context.Context) error { return s.Delete(ctx, store.Key{ID: "other"}) },
		"usage":  func(ctx context.Context) error { _, err := s.Usage(ctx, ""); return err },
		"list": func(ctx context.Context) (last error) {
			for _, err := range s.List(ctx, store.Filter{}) {
				last = err
			}
			return last
		},
		"records": func(ctx context.Context) (last error) {
			for _, err := range s.Records(ctx, key, store.Choice{}) {
				last = err
			}
			return last
		},
	}
	bound := 300 * time.Millisecond // in place of CallTimeout
	if faultsFor() > store.CallTimeout {
		bound = time.Hour
	}
	p.stalled.Lock()
	var wg sync.WaitGroup
	for name, call := range calls {
		wg.Go(func() {
			ctx, cancel := context.WithTimeoutCause(t.Context(), bound, store.ErrSlow)
			defer cancel()
			err := call(ctx)
			var fault *store.Fault
			if !errors.As(err, &fault) || fault.Cause != store.Slow && fault.Cause != store.Gone { // gone: no connection
				t.Errorf("%s: %v", name, err)
			}
			if name == "append" && (fault == nil || !fault.Unknown) {
				t.Errorf("an append that may have been made: %v", err)
			}
		})
		wg.Go(func() { // a caller's own deadline is not the store's fault
			if name == "append" || name == "lease" {
				return // a write is under way: that it may be made says more
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) && !store.IsCause(err, store.Slow) {
				t.Errorf("%s with a deadline: %v", name, err)
			}
		})
	}
	wg.Wait()
	p.stalled.Unlock()
	for name, call := range calls {
		if err := call(t.Context()); store.IsCause(err, store.Slow) || store.IsCause(err, store.Gone) {
			t.Errorf("%s, when the database answers again: %v", name, err)
		}
	}
}

// The lease ends by the database's clock. A host that is stopped does not notice; the test stops it by not calling, and
// uses the database's clock to know that the lease has ended.
func testStoppedHolder(t *testing.T, c *cluster.Cluster) {
	url := c.Database()
	a, b := open(t, url), open(t, url)
	ctx := t.Context()
	key := store.Key{ID: "s"}
	if _, err := a.Create(ctx, key, store.Origin{}); err != nil {
		t.Fatal(err)
	}
	h, err := a.Lease(ctx, key, "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	// An hour passes in the database, and none at the hosts: as if their clocks were an hour behind.
	c.Exec(url, "UPDATE thresh_session SET held_until = held_until - interval '1 hour'")
	at := h.Position()
	at.Holder = "a"
	change := store.Change{Records: []store.Record{{Kind: store.Rewritten, Data: []byte("a's")}}}
	var conflict *store.ConflictError
	if _, err := a.Append(ctx, key, at, change); !errors.As(err, &conflict) {
		t.Errorf("after its lease had ended: %v", err)
	}
	if h, err = b.Lease(ctx, key, "b", time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Append(ctx, key, at, change); !errors.As(err, &conflict) {
		t.Errorf("after another host had the lease: %v", err)
	}
	at = h.Position()
	at.Holder = "b"
	if _, err := b.Append(ctx, key, at, change); err != nil {
		t.Error(err)
	}
}

// repeat calls f until ctx ends, and then sends how often.
func repeat(ctx context.Context, f func()) <-chan int {
	done := make(chan int, 1)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			f()
		}
		done <- n
	}()
	return done
}

// pause lets what is disturbed go on for a random time of up to most.
func pause(ctx context.Context, most time.Duration) {
	select {
	case <-time.After(rand.N(most)):
	case <-ctx.Done():
	}
}

// proxy passes bytes between the store and the database's socket until it cuts the connections, and none while it is
// stalled.
type proxy struct {
	dir     string
	mu      sync.Mutex
	active  map[net.Conn]bool
	stalled sync.RWMutex // held for writing as long as nothing is passed on
	passed  chan struct{}
}

// passing is the end of a connection that gets no bytes while its proxy is stalled.
type passing struct {
	net.Conn
	*proxy
}

// Write implements [io.Writer].
func (p passing) Write(b []byte) (int, error) {
	p.stalled.RLock()
	defer p.stalled.RUnlock()
	select {
	case p.passed <- struct{}{}:
	default: // nobody waits
	}
	return p.Conn.Write(b)
}

// pass waits until so many pieces were passed on.
func (p *proxy) pass(ctx context.Context, pieces int) {
	for range pieces {
		select {
		case <-p.passed:
		case <-ctx.Done():
			return
		}
	}
}

func startProxy(t *testing.T, socket string) *proxy {
	t.Helper()
	dir, err := os.MkdirTemp("", "thresh-proxy")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, filepath.Base(socket)))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{dir: dir, active: map[net.Conn]bool{}, passed: make(chan struct{})}
	t.Cleanup(func() { listener.Close(); p.cut(); os.RemoveAll(dir) })
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", socket)
			if err != nil {
				in.Close()
				continue
			}
			p.mu.Lock()
			p.active[in], p.active[out] = true, true
			p.mu.Unlock()
			for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
				go func() {
					_, _ = io.Copy(passing{pair[0], p}, pair[1])
					in.Close()
					out.Close()
				}()
			}
		}
	}()
	return p
}

// cut closes all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.active {
		conn.Close()
	}
	clear(p.active)
}
