package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// soon is a lease that ends while the test waits for it. It is short enough for many rounds, and long enough for a call
// to be made within it on a slow disk.
const soon = 20 * time.Millisecond

// lease takes or extends the lease of the session [local]. It must succeed.
func lease(t *testing.T, s store.Store, holder string, ttl time.Duration) store.Head {
	t.Helper()
	h, err := s.Lease(t.Context(), local, holder, ttl)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// held is the position of an append that its writer makes only as long as it has the lease. A store checks it by its
// own clock at the time of the append.
func held(h store.Head, holder string) store.Position {
	return store.Position{Revision: h.Revision, Fence: h.Fence, Holder: holder}
}

// oneRecord is a change that moves the revision by one.
var oneRecord = store.Change{Records: []store.Record{record(store.Rewritten, "x")}}

// leased covers the life of a lease that does not end by itself: it is refused to others, extended, released and then
// taken by another.
func leased(t *testing.T, a, b store.Store) {
	create(t, a, local)
	h := lease(t, a, "a", time.Hour)
	// The refusal has to say who holds the lease and for how long, as that is what the other host waits for.
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
	// Releasing what one does not hold is no error, and must not end the holder's lease.
	wantError(t, b.Release(t.Context(), local, "b"), nil)
	if _, err = b.Lease(t.Context(), local, "b", time.Hour); !errors.As(err, &refused) {
		t.Fatalf("b released a's lease: %v", err)
	}
	wantError(t, a.Release(t.Context(), local, "a"), nil)
	// A new holder needs a new fence: it is what refuses the writes of the last one.
	if next := lease(t, b, "b", time.Hour); next.Fence == h.Fence {
		t.Errorf("the lease changed hands, but not the fence")
	}
}

// fenced is the case that fences are for: a host pauses beyond its lease, another one takes over, and the first wakes
// up and writes.
func fenced(t *testing.T, a, b store.Store) {
	create(t, a, local)
	before := lease(t, a, "a", soon)
	// Host b tries until the lease of a has ended by the store's clock.
	eventually(t, "taking a lease that ends", func() error {
		_, err := b.Lease(t.Context(), local, "b", time.Hour)
		return err
	})
	// Neither an old fence, nor the claim to hold the lease, nor the new fence with the wrong holder may write.
	now := head(t, b, local)
	for _, at := range []store.Position{before.Position(), held(before, "a"), held(now, "a")} {
		_, err := a.Append(t.Context(), local, at, oneRecord)
		wantConflict(t, err, now)
	}
	if _, err := b.Append(t.Context(), local, held(now, "b"), oneRecord); err != nil {
		t.Error(err)
	}
}

// tooLong tests a lease that lasts for longer than whoever asks for it would have it, as after the clock was set back:
// it ends within the time of theirs, unless its holder extends it.
func tooLong(t *testing.T, a, b store.Store) {
	create(t, a, local)
	before := lease(t, a, "a", 24*time.Hour)
	var refused *store.LeasedError
	if _, err := b.Lease(t.Context(), local, "b", time.Minute); !errors.As(err, &refused) || refused.Left > time.Minute {
		t.Fatalf("got %v", err)
	}
	if _, err := a.Append(t.Context(), local, held(before, "a"), oneRecord); err != nil {
		t.Errorf("the holder has lost it: %v", err)
	}
	eventually(t, "taking it", func() error {
		_, err := b.Lease(t.Context(), local, "b", soon)
		return err
	})
}

// outlived tests the end of a lease without another host taking it. The fence is the same then, so only the store's
// clock can refuse the append.
func outlived(t *testing.T, a, _ store.Store) {
	create(t, a, local)
	h := lease(t, a, "a", soon)
	// Appends succeed until the lease ends, so each goes on from the one before.
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

// recreated deletes a session and creates another of the same key. Revision 0 is right for both, so that only the
// random fence tells the writer of the first that its session is gone.
func recreated(t *testing.T, a, b store.Store) {
	old := create(t, a, local)
	if err := b.Delete(t.Context(), local); err != nil {
		t.Fatal(err)
	}
	now := create(t, b, local)
	_, err := a.Append(t.Context(), local, old.Position(), oneRecord)
	wantConflict(t, err, now)
}
