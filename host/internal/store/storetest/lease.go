package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// soon is a lease that ends while the test waits for it.
const soon = 20 * time.Millisecond

func lease(t *testing.T, s store.Store, holder string, ttl time.Duration) store.Head {
	t.Helper()
	h, err := s.Lease(t.Context(), local, holder, ttl)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// held is the position of an append that its writer makes only as long as it has the lease.
func held(h store.Head, holder string) store.Position {
	return store.Position{Revision: h.Revision, Fence: h.Fence, Holder: holder}
}

var oneRecord = store.Change{Records: []store.Record{record(store.Rewritten, "x")}}

func leased(t *testing.T, a, b store.Store) {
	create(t, a, local)
	h := lease(t, a, "a", time.Hour)
	_, err := b.Lease(t.Context(), local, "b", time.Hour)
	var refused *store.LeasedError
	if !errors.As(err, &refused) || refused.Holder != "a" || refused.Left <= 0 || refused.Left > time.Hour {
		t.Fatalf("got %v, want that a has the lease", err)
	}
	if again := lease(t, a, "a", time.Hour); again.Fence != h.Fence {
		t.Errorf("extending the lease changed the fence")
	}
	// The lease does not keep others from adding: it only keeps them from the same work.
	h = add(t, b, h, "b's")
	if h, err = a.Append(t.Context(), local, held(h, "a"), oneRecord); err != nil {
		t.Fatal(err)
	}
	wantError(t, b.Release(t.Context(), local, "b"), nil)
	if _, err = b.Lease(t.Context(), local, "b", time.Hour); !errors.As(err, &refused) {
		t.Fatalf("b released a's lease: %v", err)
	}
	wantError(t, a.Release(t.Context(), local, "a"), nil)
	if next := lease(t, b, "b", time.Hour); next.Fence == h.Fence {
		t.Errorf("the lease changed hands, but not the fence")
	}
}

func fenced(t *testing.T, a, b store.Store) {
	create(t, a, local)
	before := lease(t, a, "a", soon)
	eventually(t, "taking a lease that ends", func() error {
		_, err := b.Lease(t.Context(), local, "b", time.Hour)
		return err
	})
	now := head(t, b, local)
	for _, at := range []store.Position{before.Position(), held(before, "a"), held(now, "a")} {
		_, err := a.Append(t.Context(), local, at, oneRecord)
		wantConflict(t, err, now)
	}
	if _, err := b.Append(t.Context(), local, held(now, "b"), oneRecord); err != nil {
		t.Error(err)
	}
}

func outlived(t *testing.T, a, _ store.Store) {
	create(t, a, local)
	h := lease(t, a, "a", soon)
	eventually(t, "an append after the lease", func() error {
		now, err := a.Append(t.Context(), local, held(h, "a"), oneRecord)
		if conflict := (*store.ConflictError)(nil); errors.As(err, &conflict) {
			return nil
		}
		if err == nil {
			h, err = now, errors.New("was not refused")
		}
		return err
	})
	// Without the claim that it has the lease, it may write: nothing has happened since.
	if _, err := a.Append(t.Context(), local, h.Position(), oneRecord); err != nil {
		t.Error(err)
	}
}

func recreated(t *testing.T, a, b store.Store) {
	old := create(t, a, local)
	if err := b.Delete(t.Context(), local); err != nil {
		t.Fatal(err)
	}
	now := create(t, b, local)
	_, err := a.Append(t.Context(), local, old.Position(), oneRecord)
	wantConflict(t, err, now)
}
