package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// listed tests order and pages. The order is by bytes, owner first: a page ends with a key, and the next one begins
// after it, which needs the same order in every store and whatever the locale of the database.
func listed(t *testing.T, a, b store.Store) {
	for _, key := range []store.Key{
		{Owner: "o", ID: "b"}, {Owner: "", ID: "z"}, {Owner: "o", ID: "a"}, {Owner: "p", ID: "a"},
	} {
		create(t, a, key)
	}
	check := func(filter store.Filter, want ...string) {
		t.Helper()
		if got := list(t, b, filter); !slices.Equal(got, want) {
			t.Errorf("%+v: %q, want %q", filter, got, want)
		}
	}
	check(store.Filter{AllOwners: true}, "/z", "o/a", "o/b", "p/a")
	// The zero value is the local user, not all owners.
	check(store.Filter{}, "/z")
	check(store.Filter{Owner: "o"}, "o/a", "o/b")
	check(store.Filter{AllOwners: true, Limit: 2}, "/z", "o/a")
	// After is a key and need not exist; with all owners it continues with the next one.
	check(store.Filter{AllOwners: true, After: store.Key{Owner: "o", ID: "a"}}, "o/b", "p/a")
	check(store.Filter{Owner: "o", After: store.Key{Owner: "o", ID: "a"}}, "o/b")
	// An owner without sessions is an empty list, not an error.
	check(store.Filter{Owner: "nobody"})

	// A list is read in pages behind the caller's back. An error at their border loses or repeats a session.
	var want []string
	for n := range store.PageSize + 100 { // more than a store reads at once
		create(t, a, store.Key{Owner: "many", ID: fmt.Sprintf("%04d", n)})
		want = append(want, fmt.Sprintf("many/%04d", n))
	}
	check(store.Filter{Owner: "many"}, want...)
}

// ids tests the one rule for names, and that a name which no session can have is not an error of the store.
func ids(t *testing.T, a, b store.Store) {
	long := strings.Repeat("x", store.MaxID)
	for _, id := range []string{"a\x00b", "a\nb", "\x1b[31m", "a\u0085b", "\x7f", "\xff\xfe", long + "x"} {
		for _, key := range []store.Key{{ID: id}, {Owner: id, ID: "s"}} {
			_, err := a.Create(t.Context(), key, store.Origin{})
			wantError(t, err, store.ErrID)
			_, err = b.Head(t.Context(), key)
			wantError(t, err, store.ErrNotFound)
			wantError(t, b.Delete(t.Context(), key), store.ErrNotFound)
		}
	}
	create(t, a, store.Key{Owner: "o", ID: long})
	create(t, a, store.Key{Owner: "o", ID: "Größe 2/…: \"x\" 🙂"})
}

// owners uses the same id twice: the owner is part of a session's name everywhere.
func owners(t *testing.T, a, b store.Store) {
	mine, theirs := store.Key{Owner: "me", ID: "s"}, store.Key{Owner: "them", ID: "s"}
	add(t, a, create(t, a, mine), "mine")
	add(t, b, create(t, b, theirs), "theirs")
	if got := texts(t, b, mine, store.Choice{}); !slices.Equal(got, []string{"1 mine"}) {
		t.Errorf("my session has %q", got)
	}
	// The deletion names one owner, and must leave the other's session of the same id.
	if err := a.Delete(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, b, theirs, store.Choice{}); !slices.Equal(got, []string{"1 theirs"}) {
		t.Errorf("their session has %q", got)
	}
}

// expired tests that the time of the last append counts, not that of the creation.
func expired(t *testing.T, a, b store.Store) {
	h := add(t, a, create(t, a, local), "x")
	// A content too, so that the deletion has references to remove.
	appendChange(t, a, create(t, a, store.Key{ID: "t"}), store.Change{Contents: [][]byte{large(1)}})
	// Both sessions are new, so none has been unused for an hour.
	if n, err := b.Expire(t.Context(), time.Hour); n != 0 || err != nil {
		t.Errorf("%d sessions expired, %v", n, err)
	}
	// Whichever session is written to last stays: only the order of two times is certain. The clock is the store's and
	// cannot be set.
	eventually(t, "the other session expires", func() error {
		h = add(t, a, h, "y")
		// The first session is written to in each round, so it should be the other one that goes.
		n, err := b.Expire(t.Context(), 50*time.Millisecond)
		if err == nil && n == 0 {
			err = errors.New("no session expired")
		}
		return err
	})
	for _, id := range list(t, b, store.Filter{}) {
		// The first may have gone too, if the machine was slow between the append and the expiry.
		if id == "/t" {
			t.Error("the session that was not used is still there")
		}
	}
}

// accesses covers the life of a token: created, found by the other host, revoked, and created again under its name.
func accesses(t *testing.T, a, b store.Store) {
	ctx := t.Context()
	// A hash may contain any byte, also zero.
	token := store.Access{Name: "ci", Hash: []byte{1, 2, 0}, Limits: []byte(`{"sessions":3}`)}
	if err := a.CreateAccess(ctx, token); err != nil {
		t.Fatal(err)
	}
	// A second token of the same name would take over the sessions of the first.
	wantError(t, b.CreateAccess(ctx, token), store.ErrExists)
	wantError(t, b.CreateAccess(ctx, store.Access{Name: "agent", Hash: []byte{3}}), nil)
	read := func() []store.Access {
		t.Helper()
		got, err := b.Accesses(ctx)
		if err != nil || len(got) != 2 || got[0].Name != "agent" || got[1].Name != "ci" {
			t.Fatalf("%+v, %v", got, err)
		}
		return got
	}
	got := read()[1]
	if !bytes.Equal(got.Hash, token.Hash) || string(got.Limits) != string(token.Limits) ||
		got.Created.IsZero() || !got.Revoked.IsZero() {
		t.Errorf("the token came back as %+v", got)
	}
	// A change needs what it has seen: of two that were made from one state, the second is refused.
	changed := store.Access{Name: "ci", Hash: []byte{4, 0}, Limits: []byte(`{"sessions":4}`)}
	wantError(t, b.ChangeAccess(ctx, got, changed), nil)
	wantError(t, a.ChangeAccess(ctx, got, token), store.ErrNotFound)
	if now := read()[1]; !bytes.Equal(now.Hash, changed.Hash) || string(now.Limits) != string(changed.Limits) ||
		!now.Created.After(got.Created) {
		t.Errorf("changed from %+v to %+v", got, now)
	}
	got = read()[1]
	changed.Limits = []byte("{}")
	wantError(t, a.ChangeAccess(ctx, got, changed), nil)
	if now := read()[1]; string(now.Limits) != "{}" || !now.Created.Equal(got.Created) {
		t.Errorf("with other limits it is %+v", now)
	}
	got = read()[1]
	wantError(t, b.RevokeAccess(ctx, "ci"), nil)
	wantError(t, a.ChangeAccess(ctx, got, token), store.ErrNotFound)
	// Revoked already: a caller that names the wrong token should hear of it.
	// By the other host, which must know of the first revocation.
	wantError(t, a.RevokeAccess(ctx, "ci"), store.ErrNotFound)
	if got := read(); got[1].Revoked.IsZero() || !got[0].Revoked.IsZero() {
		t.Errorf("after revoking ci: %+v", got)
	}
	// After that the name is free, and the new token is valid at once.
	token.Hash = []byte{9}
	wantError(t, a.CreateAccess(ctx, token), nil)
	if got := read()[1]; !bytes.Equal(got.Hash, token.Hash) || !got.Revoked.IsZero() {
		t.Errorf("the new token is %+v", got)
	}
}

// secret asks two hosts at the same time: both must get the one that was made first.
func secret(t *testing.T, a, b store.Store) {
	var got [4][]byte
	var wg sync.WaitGroup
	for n := range got {
		wg.Go(func() {
			var err error
			if got[n], err = []store.Store{a, b}[n%2].Secret(t.Context(), "recall"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	other, err := a.Secret(t.Context(), "another")
	if err != nil || len(other) != 32 || bytes.Equal(other, got[0]) {
		t.Errorf("another secret is %x, %v", other, err)
	}
	for _, s := range got {
		if len(s) != 32 || !bytes.Equal(s, got[0]) {
			t.Errorf("the secret is %x and %x", got[0], s)
		}
	}
}

// accounted adds from two hosts at the same time: a store that reads, adds and writes in separate steps loses some of it,
// or tells two hosts that the same is left.
func accounted(t *testing.T, a, b store.Store) {
	var wg sync.WaitGroup
	used := store.Used{Spent: 7, Saved: -1, Requests: 2, Whole: 1 << 40, Sent: 3}
	// All amounts are the same, so that the sum does not depend on the order.
	for n := range 10 {
		s := []store.Store{a, b}[n%2]
		wg.Go(func() {
			if _, err := s.Account(t.Context(), "ci", "2031-01-02", used); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	ten := store.Used{Spent: 70, Saved: -10, Requests: 20, Whole: 10 << 40, Sent: 30}
	for _, want := range []store.Account{{Name: "ci", Day: "2031-01-02", Used: ten}, {Name: "ci", Day: "2031-01-03"},
		{Name: "other", Day: "2031-01-02"}} {
		// Adding nothing reads the sums.
		if sum, err := a.Account(t.Context(), want.Name, want.Day, store.Used{}); sum != want.Used || err != nil {
			t.Errorf("%s on %s: %+v, want %+v (%v)", want.Name, want.Day, sum, want.Used, err)
		}
	}
	var mu sync.Mutex
	sums := map[int64]bool{}
	for n := range 10 {
		s := []store.Store{a, b}[n%2]
		wg.Go(func() {
			sum, err := s.Account(t.Context(), "booked", "2031-01-01", store.Used{Spent: 5})
			mu.Lock()
			defer mu.Unlock()
			if sums[sum.Spent] = true; err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, step := range []struct{ add, want int64 }{{-3, 47}, {-60, -13}} { // less than was booked
		sum, err := a.Account(t.Context(), "booked", "2031-01-01", store.Used{Spent: step.add})
		if err != nil || sum.Spent != step.want || len(sums) != 10 {
			t.Errorf("%d is %d, want %d (%v), after %d different sums", step.add, sum.Spent, step.want, err, len(sums))
		}
	}
	if _, err := b.Account(t.Context(), "ci", "2031-01-01", used); err != nil {
		t.Fatal(err)
	}
	want := []store.Account{{Name: "ci", Day: "2031-01-02", Used: ten}, {Name: "other", Day: "2031-01-02"},
		{Name: "ci", Day: "2031-01-03"}}
	if got, err := b.Accounts(t.Context(), "2031-01-02"); !slices.Equal(got, want) || err != nil {
		t.Errorf("from the second on: %+v, want %+v (%v)", got, want, err)
	}
}

// sized tests that usage is per owner, and counts the bytes of contents that are kept apart from the records.
func sized(t *testing.T, a, b store.Store) {
	ctx := t.Context()
	add(t, a, create(t, a, store.Key{Owner: "o", ID: "1"}), "12345", "6")
	appendChange(t, a, create(t, a, store.Key{Owner: "o", ID: "2"}), store.Change{Contents: [][]byte{large(1)}})
	add(t, a, create(t, a, local), "x")
	usage, err := b.Usage(ctx, "o")
	if want := (store.Usage{Sessions: 2, Bytes: 100_006}); usage != want || err != nil {
		t.Errorf("usage %+v, want %+v (%v)", usage, want, err)
	}
	// An owner without sessions is no error: a token that was just created has none.
	if usage, err = b.Usage(ctx, "nobody"); usage != (store.Usage{}) || err != nil {
		t.Errorf("usage of nobody: %+v, %v", usage, err)
	}
	size, err := b.Size(ctx)
	// Size may count more than the data, such as pages of a file, but never less.
	if err != nil || size.Sessions != 3 || size.Records != 3 || size.Bytes < 100_007 {
		t.Errorf("size %+v, %v", size, err)
	}
	wantError(t, a.Check(ctx), nil)
}

// watched tests that hosts hear of their own changes and of those of other hosts. Notices may be lost, repeated or
// replaced by one that names no session, so the test waits for the right one instead of counting.
func watched(t *testing.T, a, b store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	// Watch must not be held up, so there is room for all notices of the test.
	notices := make(chan store.Notice, 1000)
	ended := make(chan error, 1)
	go func() {
		// The cause is checked at the end: a watcher must be able to tell why it ended.
		ended <- a.Watch(ctx, func(n store.Notice) { notices <- n })
	}()
	// A store may also say that anything may have changed.
	next := func(want store.Notice) error {
		for {
			select {
			case n := <-notices:
				if n == want || n == (store.Notice{}) {
					return nil
				}
			// Longer than the interval at which a store polls or sends; a notice that is late is waited for in the next
			// try.
			case <-time.After(200 * time.Millisecond):
				return fmt.Errorf("no notice of %+v", want)
			}
		}
	}
	// The first notices may come before the watcher is ready, so that the change is made again until one is heard.
	for _, s := range []store.Store{a, b} {
		h := create(t, s, local)
		eventually(t, "a notice of a change", func() error {
			h = add(t, s, h, "x")
			return next(store.Notice{Key: local, Revision: h.Revision})
		})
		if err := s.Delete(t.Context(), local); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a notice of a deletion", func() error { return next(store.Notice{Key: local}) })
	}
	cancel()
	wantError(t, <-ended, context.Canceled)
}

// closed tests that calls after Close, and those that wait at the time, end with [store.ErrClosed]; closing twice is no
// error, as a host may close its store on several ways out.
func closed(t *testing.T, a, _ store.Store) {
	h := create(t, a, local)
	ended := make(chan error, 1)
	go func() { ended <- a.Watch(t.Context(), func(store.Notice) {}) }()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := a.Append(t.Context(), local, h.Position(), oneRecord)
	wantError(t, err, store.ErrClosed)
	_, err = a.Head(t.Context(), local)
	wantError(t, err, store.ErrClosed)
	// Watch ends too, although its context has not.
	wantError(t, <-ended, store.ErrClosed)
	wantError(t, a.Close(), nil)
}
