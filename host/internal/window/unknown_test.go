package window_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
)

// An addition that failed with an unknown outcome, and is found in the store later, is in the transcript, too.
func TestALateAdditionIsInTheTranscript(t *testing.T) {
	for name, look := range map[string]func(*testing.T, *window.Session){
		"repeated with its key": func(t *testing.T, s *window.Session) { addOnce(t, s, "k", "two") },
		"found by another addition": func(t *testing.T, s *window.Session) {
			add(t, s, says(content.Human, "three"))
		},
		"found by a turn": func(t *testing.T, s *window.Session) { prepareTurn(t, s) },
		"found when the session is read again": func(t *testing.T, s *window.Session) {
			s.Sleep()
			prepareTurn(t, s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			kept := &gone{Store: store.NewMemory()}
			s, err := openOn(t, kept, map[string]any{"transcript.dir": t.TempDir()}).Session(store.Key{ID: "s"}, nil)
			must(t, err, nil)
			add(t, s, says(content.Human, "one"))
			kept.next.Store(true)
			unknown := (*journal.UnknownError)(nil)
			if _, _, err := s.AddOnce(t.Context(), "k", says(content.Human, "two")); !errors.As(
				err, &unknown) {
				t.Fatal(err)
			}
			kept.down.Store(false)
			look(t, s)
			var written []string
			for _, e := range owned(t, s).Entries {
				originals, err := s.Originals(t.Context(), e.ID)
				must(t, err, nil)
				written = append(written, texts(originals)...)
			}
			if diff := cmp.Diff(texts(owned(t, s).Contents()), written); diff != "" || len(written) < 2 {
				t.Errorf("history and transcript:\n%s", diff)
			}
		})
	}
}

// unread is a store that has no records to give while on is set.
type unread struct {
	store.Store
	on atomic.Bool
}

func (u *unread) Records(ctx context.Context, key store.Key, choice store.Choice) iter.Seq2[store.Record, error] {
	if u.on.Load() {
		return func(yield func(store.Record, error) bool) { yield(store.Record{}, errDown) }
	}
	return u.Store.Records(ctx, key, choice)
}

// A released session that cannot be read again still knows where its log ends: a fork of it would begin at its last
// snapshot otherwise.
func TestASessionThatCannotBeReadAgainKeepsItsPosition(t *testing.T) {
	kept := &unread{Store: store.NewMemory()}
	_, s := sessionOn(t, kept)
	for range 5 { // with a snapshot among them
		add(t, s, says(content.Human, "a"))
		prepareTurn(t, s)
	}
	add(t, s, says(content.Human, "b"))
	want := s.Position()
	if head, err := kept.Head(t.Context(), store.Key{ID: "s"}); err != nil || head.Snapshot == 0 || head.Snapshot == want {
		t.Fatal(head, err)
	}
	s.Sleep()
	kept.on.Store(true)
	if _, _, err := s.Add(t.Context(), says(content.Human, "c")); err == nil {
		t.Error("a session that cannot be read takes an addition")
	}
	if got := s.Position(); got != want {
		t.Errorf("position %d, want %d", got, want)
	}
	kept.on.Store(false)
	add(t, s, says(content.Human, "c"))
	if n := len(owned(t, s).Entries); n != 7 {
		t.Errorf("%d entries", n)
	}
}
