package window_test

import (
	"encoding/json"
	"errors"
	"fmt"
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
	added, err := s.Add(t.Context(), window.Addition{Entries: entries, Key: key})
	must(t, err, nil)
	return size{added.Revision, added.Tokens}
}

func sessionOn(t *testing.T, kept store.Store) (*window.Host, *window.Session) {
	t.Helper()
	h := openOn(t, kept, nil)
	h.SetSnapshotEvery(3)
	s, err := h.Open(window.Opening{Key: store.Key{ID: "s"}})
	must(t, err, nil)
	return h, s
}

// An addition with a key takes place once, and is answered as the first time: by the same host, by another one that has
// the session open, and after a restart; entries or messages.
func TestAnAdditionWithAKey(t *testing.T) {
	addMessages := func(s *window.Session) size {
		added, err := s.AddMessages(t.Context(), &chat.Messages, "k3", nil, []json.RawMessage{
			json.RawMessage(`{"role":"system","content":"You fix bugs."}`), json.RawMessage(`{"role":"user","content":"fix"}`),
		})
		must(t, err, nil)
		return size{added.Revision, added.Tokens}
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
				other := window.Entries(says(content.Human, "other"))
				other.Key = "k1"
				if _, err := s.Add(t.Context(), other); !errors.Is(err, journal.ErrKeyReused) {
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
