package window_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// stalled is a store that gives no answer after so many calls. It does not wait itself: waited is what its callers
// would have waited, for CallTimeout at most, and once for each deadline.
type stalled struct {
	store.Store
	after  int
	waited time.Duration
	until  map[time.Time]bool
}

func (s *stalled) call(ctx context.Context) error {
	if s.after--; s.after >= 0 {
		return nil
	}
	until, ok := ctx.Deadline()
	if !ok {
		until = time.Now().Add(store.CallTimeout)
	}
	if !s.until[until] {
		s.until[until] = true
		s.waited += time.Until(until)
	}
	return &store.Fault{Cause: store.Slow, Store: "s", Unknown: true, Err: store.ErrSlow}
}

func (s *stalled) Head(ctx context.Context, key store.Key) (store.Head, error) {
	if err := s.call(ctx); err != nil {
		return store.Head{}, err
	}
	return s.Store.Head(ctx, key)
}

func (s *stalled) Append(ctx context.Context, key store.Key, at store.Position, c store.Change) (store.Head, error) {
	if err := s.call(ctx); err != nil {
		return store.Head{}, err
	}
	return s.Store.Append(ctx, key, at, c)
}

func (s *stalled) Lease(ctx context.Context, key store.Key, holder string, ttl time.Duration) (store.Head, error) {
	if err := s.call(ctx); err != nil {
		return store.Head{}, err
	}
	return s.Store.Lease(ctx, key, holder, ttl)
}

func (s *stalled) Release(ctx context.Context, key store.Key, holder string) error {
	if err := s.call(ctx); err != nil {
		return err
	}
	return s.Store.Release(ctx, key, holder)
}

// Wherever the store stops answering, a method waits for it once, and says so.
func TestAStoreThatStalls(t *testing.T) {
	kept := &stalled{Store: store.NewMemory(), after: 1 << 30}
	h := openOn(t, kept, map[string]any{
		"compression.strategy": "top-down-truncation", "model.contextLimit": 2000,
	})
	methods := map[string]func(*window.Session) error{
		"add": func(s *window.Session) error {
			_, err := s.Add(t.Context(), window.Entries(says("human", "more")))
			return err
		},
		"prepare": func(s *window.Session) error {
			_, err := s.Prepare(t.Context(), window.Sending{})
			return err
		},
		"compress": func(s *window.Session) error {
			_, err := s.Compress(t.Context(), nil)
			return err
		},
		"set": func(s *window.Session) error { return s.Set(t.Context(), "compression.threshold", 0.6) },
	}
	for name, method := range methods {
		for after, failed := 0, true; failed; after++ {
			kept.after = 1 << 30
			s, err := h.Open(window.Opening{Key: store.Key{ID: fmt.Sprint(name, after)}})
			if err != nil {
				t.Fatal(err)
			}
			for range 20 {
				add(t, s, says("human", strings.Repeat("a question ", 40)), says("ai", strings.Repeat("an answer ", 40)))
			}
			kept.after, kept.waited, kept.until = after, 0, map[time.Time]bool{}
			err = method(s)
			failed = err != nil
			if failed && host.ErrorOf(err).Kind != api.KindStore {
				t.Errorf("%s, %d calls: %v", name, after, err)
			}
			if most := store.CallTimeout + time.Second; kept.waited > most {
				t.Errorf("%s, %d calls: it waits for %v: %v", name, after, kept.waited, err)
			}
		}
	}
}
