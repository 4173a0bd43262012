package window_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
)

// A host that is killed while it compresses neither writes nor gives up its lease. Another host waits until the lease
// has ended by the store's clock, and then does what one host does alone.
func TestHostsWhenTheHolderOfTheLeaseIsKilled(t *testing.T) {
	settings := map[string]any{"model.contextLimit": 2000, "compression.strategy": "top-down-truncation"}
	key := store.Key{ID: "s"}
	for name, open2 := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both := open2(t)
			dying := &mortal{Store: both[0]}
			first := openOn(t, dying, settings)
			first.SetLeaseTime(time.Second)
			killed, err := first.Open(window.Opening{Key: key})
			if err != nil {
				t.Fatal(err)
			}
			alone, err := open(t, settings).Open(window.Opening{Key: key})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 60 {
				entry := says(content.Human, fmt.Sprint(i, strings.Repeat(" word", 40)))
				add(t, killed, entry)
				add(t, alone, entry)
			}
			if _, err := killed.Prepare(t.Context(), window.Sending{}); !errors.Is(err, errDead) {
				t.Fatalf("the host was not killed while it compressed: %v", err)
			}
			other, err := openOn(t, both[1], settings).Open(window.Opening{Key: key})
			if err != nil {
				t.Fatal(err)
			}
			got, err := other.Prepare(t.Context(), window.Sending{})
			if got.Outcome.Compress.Kind != "applied" {
				t.Errorf("the other host did not compress: %+v", got.Outcome.Compress)
			}
			if after := time.Since(dying.leased); after < time.Second {
				t.Errorf("the other host went on %v after the lease was taken, which lasts a second", after)
			}
			want := prepareTurn(t, alone)
			if diff := cmp.Diff(want.Contents(), got.Contents()); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

var errDead = errors.New("the host was killed")

// mortal is a store as a host sees it that is killed right before it writes what it compressed: nothing arrives any more.
type mortal struct {
	store.Store
	dead   atomic.Bool
	leased time.Time // when the lease was asked for: it ends no sooner than its time after that
}

func (m *mortal) Append(ctx context.Context, key store.Key, at store.Position, c store.Change) (store.Head, error) {
	if at.Holder != "" { // other rewrites need no lease
		m.dead.Store(true)
	}
	if m.dead.Load() {
		return store.Head{}, errDead
	}
	return m.Store.Append(ctx, key, at, c)
}

func (m *mortal) Lease(ctx context.Context, key store.Key, holder string, ttl time.Duration) (store.Head, error) {
	if m.dead.Load() {
		return store.Head{}, errDead
	}
	m.leased = time.Now()
	return m.Store.Lease(ctx, key, holder, ttl)
}

func (m *mortal) Release(ctx context.Context, key store.Key, holder string) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Store.Release(ctx, key, holder)
}

// A Compress may take longer than a lease lasts: nobody else has it until the rewrite is written.
func TestALeaseIsExtendedWhileItsHolderCompresses(t *testing.T) {
	const lasts = 300 * time.Millisecond
	key := store.Key{ID: "s"}
	kept := &extending{Store: store.NewMemory(), leased: make(chan struct{}, 100)}
	h := openOn(t, kept, map[string]any{"model.contextLimit": 2000, "compression.strategy": "top-down-truncation"})
	h.SetLeaseTime(lasts)
	s, err := h.Open(window.Opening{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		add(t, s, says(content.Human, fmt.Sprint(i, strings.Repeat(" word", 40))))
	}
	var other error
	kept.rewriting = func() {
		for range 5 { // the first takes it, and each further one adds a third of its time at least
			select {
			case <-kept.leased:
			case <-time.After(100 * lasts):
				return
			}
		}
		_, other = kept.Store.Lease(t.Context(), key, "another host", lasts)
	}
	got := prepareTurn(t, s)
	if leased := (*store.LeasedError)(nil); !errors.As(other, &leased) || got.Outcome.Compress.Kind != "applied" {
		t.Errorf("another host that asked for the lease: %v; the holder: %q", other, got.Outcome.Compress.Kind)
	}
}

// extending is a store that tells of each lease, and of what was compressed before it is written.
type extending struct {
	store.Store
	leased    chan struct{}
	rewriting func()
}

func (c *extending) Lease(ctx context.Context, key store.Key, holder string, ttl time.Duration) (store.Head, error) {
	head, err := c.Store.Lease(ctx, key, holder, ttl)
	c.leased <- struct{}{}
	return head, err
}

func (c *extending) Append(ctx context.Context, key store.Key, at store.Position, x store.Change) (store.Head, error) {
	if at.Holder != "" { // other rewrites need no lease
		c.rewriting()
	}
	return c.Store.Append(ctx, key, at, x)
}
