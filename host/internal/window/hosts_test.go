package window_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/store/postgres"
	"github.com/thresh-dev/thresh/host/internal/store/sqlite"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	cluster "github.com/thresh-dev/thresh/internal/testkit/postgres"
	"github.com/thresh-dev/thresh/sdk/content"
)

// stores are two views of one store: what two hosts see of it. PostgreSQL is left out where it is not installed.
func stores(t *testing.T) map[string]func(*testing.T) [2]store.Store {
	return map[string]func(*testing.T) [2]store.Store{
		"memory": func(*testing.T) [2]store.Store {
			m := store.NewMemory()
			return [2]store.Store{m, m}
		},
		"sqlite": func(t *testing.T) (both [2]store.Store) {
			path := filepath.Join(t.TempDir(), "sessions.db")
			for i := range both {
				s, err := sqlite.Open(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				both[i] = s
			}
			return both
		},
		"postgres": func(t *testing.T) (both [2]store.Store) {
			url := cluster.Shared(t).Database()
			for i := range both {
				s, err := postgres.Open(t.Context(), url)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				both[i] = s
			}
			return both
		},
	}
}

// Two hosts that have a session open and take turns do what one host does alone, byte for byte.
func TestHostsThatTakeTurns(t *testing.T) {
	entries := gen.Session(150, 5)
	settings := map[string]any{"model.contextLimit": 8000, "compression.density.recencyPruning": true}
	for name, open2 := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both := open2(t)
			alone, err := open(t, settings).Open(window.Opening{Key: store.Key{ID: "s"}})
			if err != nil {
				t.Fatal(err)
			}
			var shared []*window.Session
			for _, kept := range both {
				h := openOn(t, kept, settings)
				h.SetSnapshotEvery(20)
				s, err := h.Open(window.Opening{Key: store.Key{ID: "s"}})
				if err != nil {
					t.Fatal(err)
				}
				shared = append(shared, s)
			}
			for i, step := range script(entries, 9) {
				want, got := step(t, alone), step(t, shared[(i/2)%2])
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("step %d:\n%s", i, diff)
				}
			}
		})
	}
}

// What hosts add and prepare at the same time ends in one history: nothing that was acknowledged is lost or there
// twice, and each agent's entries are in its order.
func TestHostsThatWriteAtOnce(t *testing.T) {
	settings := map[string]any{"model.contextLimit": 4000, "compression.strategy": "top-down-truncation"}
	for name, open2 := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sessions []*window.Session
			for _, kept := range open2(t) {
				h := openOn(t, kept, settings)
				h.SetSnapshotEvery(10)
				s, err := h.Open(window.Opening{Key: store.Key{ID: "s"}})
				if err != nil {
					t.Fatal(err)
				}
				sessions = append(sessions, s)
			}
			const agents, each = 4, 15
			var all sync.WaitGroup
			for a := range agents {
				all.Add(1)
				go func() {
					defer all.Done()
					s := sessions[a%2]
					for i := range each {
						text := fmt.Sprintf("agent %d entry %02d %s", a, i, strings.Repeat("word ", 40))
						if _, err := s.Add(context.Background(), window.Entries(says(content.Human, text))); err != nil {
							t.Errorf("add: %v", err)
						}
						if i%3 == 2 {
							if _, err := s.Prepare(context.Background(), window.Sending{}); err != nil {
								t.Errorf("prepare: %v", err)
							}
						}
					}
				}()
			}
			all.Wait()
			var seen [2][]string
			for i, s := range sessions {
				_, err := s.Refresh(t.Context(), nil)
				must(t, err, nil)
				seen[i] = texts(owned(t, s).Contents())
			}
			if diff := cmp.Diff(seen[0], seen[1]); diff != "" {
				t.Errorf("the hosts see different histories:\n%s", diff)
			}
			recorded := map[string]int{}
			for n := range agents*each + 200 { // more than there can be: each read goes through the whole log
				if o, err := sessions[0].Originals(t.Context(), fmt.Sprint("e", n+1)); err == nil {
					id, _, _ := strings.Cut(texts(o)[0], " word")
					recorded[id]++
				}
			}
			for a := range agents {
				for i := range each {
					if id := fmt.Sprintf("agent %d entry %02d", a, i); recorded[id] != 1 {
						t.Errorf("%s was recorded %d times", id, recorded[id])
					}
				}
			}
		})
	}
}

// A session that another host has deleted, and begun again under its name, is gone here too, however long the new one
// is: no entry of one comes into the other.
func TestASessionThatAnotherHostBeganAgain(t *testing.T) {
	for name, open2 := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both := open2(t)
			here, there := openOn(t, both[0], nil), openOn(t, both[1], nil)
			for i, entries := range []int{1, 3, 5} { // the first one has 3
				for what, use := range map[string]func(*window.Session) error{
					"add": func(s *window.Session) error {
						_, err := s.Add(t.Context(), window.Entries(says(content.Human, "late")))
						return err
					},
					"refresh": func(s *window.Session) error { _, err := s.Refresh(t.Context(), nil); return err },
					"sleep":   func(s *window.Session) error { s.Sleep(); _, err := s.HistoryAt(nil); return err },
				} {
					id := fmt.Sprint(what, i)
					begin := func(h *window.Host, text string, n int) *window.Session {
						s, err := h.Open(window.Opening{Key: store.Key{ID: id}})
						for range n {
							if err == nil {
								_, err = s.Add(t.Context(), window.Entries(says(content.Human, text)))
							}
						}
						if err != nil {
							t.Fatal(err)
						}
						return s
					}
					first := begin(here, "first", 3)
					if err := there.Delete(t.Context(), "", id); err != nil {
						t.Fatal(err)
					}
					second := begin(there, "second", entries)
					if err := use(first); !errors.Is(err, journal.ErrDeleted) {
						t.Errorf("%s, %d entries: %v", what, entries, err)
					}
					if h, err := second.HistoryAt(nil); err != nil || len(h.Entries) != entries {
						t.Errorf("%s: the second has %d entries of %d: %v", what, len(h.Entries), entries, err)
					}
				}
			}
		})
	}
}

// hooked is a store in which a test does something right before a write of a kind of records, once.
type hooked struct {
	store.Store
	kind   store.Kind
	before func()
	done   atomic.Bool
	leased bool // only what is written under a lease: not what is marked as kept
	// lapse lets the lease end: it is not extended, as by a host that was stopped.
	lapse atomic.Bool
}

func (h *hooked) Append(ctx context.Context, key store.Key, at store.Position, c store.Change) (store.Head, error) {
	if slices.ContainsFunc(c.Records, func(r store.Record) bool { return r.Kind == h.kind }) &&
		(at.Holder != "" || !h.leased) && !h.done.Swap(true) {
		h.before()
	}
	return h.Store.Append(ctx, key, at, c)
}

func (h *hooked) Lease(ctx context.Context, key store.Key, holder string, ttl time.Duration) (store.Head, error) {
	if h.lapse.Swap(true) {
		return store.Head{}, context.DeadlineExceeded
	}
	return h.Store.Lease(ctx, key, holder, ttl)
}

// pair returns a session in two hosts. The first sees the store through the hook.
func pair(t *testing.T, hook *hooked, settings map[string]any) (first, second *window.Session) {
	t.Helper()
	hook.Store = store.NewMemory()
	var out []*window.Session
	for _, kept := range []store.Store{hook, hook.Store} {
		h := openOn(t, kept, settings)
		h.SetLeaseTime(300 * time.Millisecond)
		s, err := h.Open(window.Opening{Key: store.Key{ID: "s"}})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out[0], out[1]
}

// A host that was stopped while it compressed, for longer than its lease lasts, writes nothing when it goes on: it
// starts again from what another host has made of the history.
func TestAHostThatWasPausedPastItsLease(t *testing.T) {
	settings := map[string]any{"model.contextLimit": 2000, "compression.strategy": "top-down-truncation"}
	hook := &hooked{kind: store.Rewritten, leased: true}
	paused, other := pair(t, hook, settings)
	for i := range 60 {
		add(t, paused, says(content.Human, fmt.Sprint(i, strings.Repeat(" word", 40))))
	}
	var between window.Prepared
	hook.before = func() { between = prepareTurn(t, other) } // waits for the lease to end
	hook.lapse.Store(false)
	got := prepareTurn(t, paused)
	if between.Outcome.Compress.Kind != "applied" {
		t.Fatalf("the other host did not compress: %+v", between.Outcome.Compress)
	}
	if diff := cmp.Diff(between.Contents(), got.Contents()); diff != "" || got.Outcome.Compress.Kind != "" {
		t.Errorf("the host that was paused compressed again (%q):\n%s", got.Outcome.Compress.Kind, diff)
	}
}

// A rewrite that meets additions of another host is applied before them, as if they had come later.
func TestARewriteMeetsAdditions(t *testing.T) {
	settings := map[string]any{"model.contextLimit": 2000, "compression.strategy": "top-down-truncation"}
	hook := &hooked{kind: store.Rewritten, leased: true}
	s, other := pair(t, hook, settings)
	for i := range 60 {
		add(t, s, says(content.Human, fmt.Sprint(i, strings.Repeat(" word", 40))))
	}
	hook.before = func() { add(t, other, says(content.Human, "late")) }
	got := prepareTurn(t, s)
	if got.Outcome.Compress.Kind != "applied" {
		t.Errorf("%+v", got.Outcome.Compress)
	}
	_, err := other.Refresh(t.Context(), nil)
	must(t, err, nil)
	if h := texts(owned(t, other).Contents()); h[len(h)-1] != "late" || len(h) >= 60 {
		t.Errorf("the other host sees %d entries, the last is %q", len(h), h[len(h)-1])
	}
}

// A turn sees what other hosts added before it was asked for, also where its door leaves out what comes later.
func TestATurnSeesWhatOtherHostsAdded(t *testing.T) {
	s, other := pair(t, &hooked{}, nil)
	add(t, s, says(content.Human, "one"))
	add(t, other, says(content.Human, "two"))
	asked := moment(t, s)
	upTo, err := s.Refresh(t.Context(), &asked)
	if diff := cmp.Diff([]string{"one", "two"}, texts(ownedAt(t, s, upTo).Contents())); diff != "" || err != nil {
		t.Errorf("a reader: %v\n%s", err, diff)
	}
	add(t, other, says(content.Human, "and a half"))
	asked = moment(t, s)
	got, err := s.Prepare(t.Context(), window.Sending{UpTo: &asked})
	if diff := cmp.Diff([]string{"one", "two", "and a half"}, texts(got.Contents())); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	add(t, s, says(content.Human, "three"))
	asked = moment(t, s)
	add(t, s, says(content.Human, "later"))
	got, err = s.Prepare(t.Context(), window.Sending{UpTo: &asked})
	if diff := cmp.Diff([]string{"one", "two", "and a half", "three"}, texts(got.Contents())); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// A turn sees what other hosts added before it was asked for, also if this host has added more by the time it runs, and
// none of that.
func TestATurnSeesWhatOtherHostsAddedBeforeLaterEntries(t *testing.T) {
	s, other := pair(t, &hooked{}, nil)
	add(t, s, says(content.Human, "one"))
	for i, way := range []func(*history.Point) []string{
		func(m *history.Point) []string {
			got, err := s.Prepare(t.Context(), window.Sending{UpTo: m})
			must(t, err, nil)
			return texts(got.Contents())
		},
		func(m *history.Point) []string {
			upTo, err := s.Refresh(t.Context(), m)
			must(t, err, nil)
			return texts(ownedAt(t, s, upTo).Contents())
		},
	} {
		add(t, other, says(content.Human, "acknowledged"))
		asked := moment(t, s)
		add(t, s, says(content.Human, "later"))
		add(t, other, says(content.Human, "later still"))
		add(t, s, says(content.Human, "last"))
		got := way(&asked)
		if want := 2 + 4*i; len(got) != want || got[want-1] != "acknowledged" {
			t.Errorf("%d: %q", i, got)
		}
	}
}

// A rewrite that was planned before this host heard of another host's rewrite is one that was overtaken, not a defect.
func TestARewriteThatWasOvertaken(t *testing.T) {
	settings := map[string]any{"model.contextLimit": 2000, "compression.strategy": "top-down-truncation"}
	s, other := pair(t, &hooked{}, settings)
	for i := range 60 {
		add(t, s, says(content.Human, fmt.Sprint(i, strings.Repeat(" word", 40))))
	}
	apply := s.PlanNothing(t.Context())
	if got := prepareTurn(t, other); got.Outcome.Compress.Kind != "applied" {
		t.Fatalf("%+v", got.Outcome.Compress)
	}
	add(t, s, says(content.Human, "takes in the rewrite"))
	must(t, apply(), journal.ErrMoved)
}

// What cannot be written is in neither the store nor the memory, and the next try works when there is room.
func TestAStoreWithoutRoom(t *testing.T) {
	full := &faulty{Store: store.NewMemory()}
	settings := map[string]any{"model.contextLimit": 2000, "compression.strategy": "top-down-truncation"}
	h := openOn(t, full, settings)
	s, err := h.Open(window.Opening{Key: store.Key{ID: "s"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		add(t, s, says(content.Human, fmt.Sprint(i, strings.Repeat(" word", 40))))
	}
	before := owned(t, s)
	full.on.Store(true)
	if _, err := s.Add(t.Context(), window.Entries(says(content.Human, "no room"))); !store.IsCause(err, store.Full) {
		t.Errorf("add: %v", err)
	}
	if _, err := s.Prepare(t.Context(), window.Sending{}); !store.IsCause(err, store.Full) {
		t.Errorf("prepare: %v", err)
	}
	if err := s.Set(t.Context(), "compression.threshold", 0.9); !store.IsCause(err, store.Full) {
		t.Errorf("set: %v", err)
	}
	if s.Config().Settings().Compression.Threshold != nil {
		t.Error("a setting that was not stored holds")
	}
	if diff := cmp.Diff(texts(before.Contents()), texts(owned(t, s).Contents())); diff != "" {
		t.Errorf("the history was changed:\n%s", diff)
	}
	full.on.Store(false)
	add(t, s, says(content.Human, "room again"))
	want := prepareTurn(t, s)
	again, err := openOn(t, full, settings).Open(window.Opening{Key: store.Key{ID: "s"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(texts(owned(t, s).Contents()), texts(owned(t, again).Contents())); diff != "" {
		t.Errorf("opened again:\n%s", diff)
	}
	if got := prepareTurn(t, again); got.Revision != want.Revision {
		t.Errorf("revision %d, want %d", got.Revision, want.Revision)
	}
}

// faulty is a store whose disk is full while on is set.
type faulty struct {
	store.Store
	on atomic.Bool
}

func (f *faulty) Append(ctx context.Context, key store.Key, at store.Position, c store.Change) (store.Head, error) {
	if f.on.Load() {
		return store.Head{}, &store.Fault{Cause: store.Full, Store: "test", Err: context.DeadlineExceeded}
	}
	return f.Store.Append(ctx, key, at, c)
}
