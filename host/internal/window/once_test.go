package window_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/provider/chat"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
)

// size is what an addition is answered with.
type size struct {
	revision uint64
	tokens   int
}

func addOnce(t *testing.T, s *window.Session, key string, texts ...string) size {
	t.Helper()
	var entries []content.Content
	for _, text := range texts {
		entries = append(entries, says(content.Human, text))
	}
	revision, tokens, err := s.AddOnce(t.Context(), key, entries...)
	must(t, err, nil)
	return size{revision, tokens}
}

func sessionOn(t *testing.T, kept store.Store) (*window.Host, *window.Session) {
	t.Helper()
	h := openOn(t, kept, nil)
	h.SetSnapshotEvery(3)
	s, err := h.Session(store.Key{ID: "s"}, nil)
	must(t, err, nil)
	return h, s
}

// An addition with a key takes place once, and is answered as the first time: by the same host, by another one that has
// the session open, and after a restart; entries or messages.
func TestAnAdditionWithAKey(t *testing.T) {
	addMessages := func(s *window.Session) size {
		revision, tokens, err := s.AddMessages(t.Context(), &chat.Messages, "k3", nil, []json.RawMessage{
			json.RawMessage(`{"role":"system","content":"You fix bugs."}`), json.RawMessage(`{"role":"user","content":"fix"}`),
		})
		must(t, err, nil)
		return size{revision, tokens}
	}
	for name, open2 := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both := open2(t)
			_, other := sessionOn(t, both[1])
			first, s := sessionOn(t, both[0])
			want := []size{addOnce(t, s, "k1", "one"), addOnce(t, s, "k2", "two", "three")}
			want = append(want, addMessages(s))
			check := func(who string, s *window.Session) {
				t.Helper()
				again := []size{addOnce(t, s, "k1", "one"), addOnce(t, s, "k2", "two", "three")}
				again = append(again, addMessages(s))
				if fmt.Sprint(again) != fmt.Sprint(want) {
					t.Errorf("%s: answered with %v, the first time with %v", who, again, want)
				}
				_, err := s.Refresh(t.Context(), nil)
				must(t, err, nil)
				if n := len(owned(t, s).Entries); n != 5 {
					t.Errorf("%s: %d entries", who, n)
				}
				if _, _, err := s.AddOnce(t.Context(), "k1", says(content.Human, "other")); !errors.Is(
					err, journal.ErrKeyReused) {
					t.Errorf("%s: other entries under the key: %v", who, err)
				}
			}
			check("the same host", s)
			check("another host", other)
			for i := range 5 { // enough for a snapshot, from which the next host begins
				must(t, s.Set(t.Context(), "model.contextLimit", 30000+i), nil)
			}
			must(t, s.Close(), nil)
			must(t, first.Close(), nil)
			_, s = sessionOn(t, both[0])
			check("after a restart", s)
		})
	}
}

// A session remembers a bounded number of keys, the last ones.
func TestKeysAreForgotten(t *testing.T) {
	_, s := sessionOn(t, store.NewMemory())
	for i := range 300 {
		addOnce(t, s, fmt.Sprint("key ", i), fmt.Sprint(i))
	}
	for _, i := range []int{299, 200, 172} {
		addOnce(t, s, fmt.Sprint("key ", i), fmt.Sprint(i))
	}
	if n := len(owned(t, s).Entries); n != 300 {
		t.Errorf("%d entries after the last keys were used again", n)
	}
	addOnce(t, s, "key 171", "171")
	if n := len(owned(t, s).Entries); n != 301 {
		t.Errorf("%d entries after a forgotten key was used again", n)
	}
}

// gone is a store whose connection breaks after a commit, and does not come back before it is mended.
type gone struct {
	store.Store
	next, down atomic.Bool
}

var errDown = &store.Fault{Cause: store.Gone, Store: "test", Err: context.DeadlineExceeded}

func (g *gone) Append(ctx context.Context, key store.Key, at store.Position, c store.Change) (store.Head, error) {
	if g.down.Load() {
		return store.Head{}, errDown
	}
	head, err := g.Store.Append(ctx, key, at, c)
	if err == nil && g.next.Swap(false) {
		g.down.Store(true)
		return store.Head{}, &store.Fault{Cause: store.Gone, Store: "test", Unknown: true, Err: context.DeadlineExceeded}
	}
	return head, err
}

func (g *gone) Head(ctx context.Context, key store.Key) (store.Head, error) {
	if g.down.Load() {
		return store.Head{}, errDown
	}
	return g.Store.Head(ctx, key)
}

// An addition whose outcome is not known says so; with a key it can be repeated, and takes place once.
func TestAnAdditionOfUnknownOutcome(t *testing.T) {
	for _, key := range []string{"k", ""} {
		kept := &gone{Store: store.NewMemory()}
		_, s := sessionOn(t, kept)
		add(t, s, says(content.Human, "one"))
		kept.next.Store(true)
		_, _, err := s.AddOnce(t.Context(), key, says(content.Human, "two"))
		unknown := (*journal.UnknownError)(nil)
		if !errors.As(err, &unknown) || unknown.Repeatable != (key != "") {
			t.Errorf("key %q: %v", key, err)
		}
		t.Log(err)
		kept.down.Store(false)
		if key != "" {
			if got := addOnce(t, s, key, "two"); got.revision != 2 {
				t.Errorf("answered with %v", got)
			}
		}
		_, err = s.Refresh(t.Context(), nil)
		must(t, err, nil)
		if n := len(owned(t, s).Entries); n != 2 {
			t.Errorf("key %q: %d entries", key, n)
		}
	}
}
