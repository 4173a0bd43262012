package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// The tests of a store take two hosts, a and b, which share one database, or one store in memory. What one writes, the
// other must see. Each test uses a session that is new.

// appended tests what a log is: records in order and numbered from 1, with any bytes, the same at both hosts. Bytes and
// the summary of the head come with the append that changes them.
func appended(t *testing.T, a, b store.Store) {
	h := create(t, a, local)
	// A zero byte, bytes that are no UTF-8, and an empty record: data is opaque.
	h = add(t, a, h, "one", "two\x00\xff", "")
	other := head(t, b, local)
	// Host b has never seen the session before: what it knows comes from the store.
	if other.Position() != h.Position() || other.Revision != 3 {
		t.Errorf("one host is at %+v, the other at %+v", h.Position(), other.Position())
	}
	h = appendChange(t, b, other, store.Change{
		// Made when the store needs it, which may be now or when it is read.
		Records: []store.Record{{Kind: store.Added, Later: func() []byte { return []byte("four") }, Size: len("four")}},
		Summary: store.Summary{Entries: 7, Tokens: 1234},
	})
	want := []string{"1 one", "2 two\x00\xff", "3 ", "4 four"}
	for _, s := range []store.Store{a, b} {
		if got := texts(t, s, local, store.Choice{}); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	got := head(t, a, local)
	if got.Summary != (store.Summary{Entries: 7, Tokens: 1234}) || got.Bytes != h.Bytes || got.Bytes != 12 {
		t.Errorf("the head is %+v", got)
	}
	// Both times are of one clock. They may be equal.
	if got.Used.Before(got.Created) || got.Created.IsZero() {
		t.Errorf("created at %v, used at %v", got.Created, got.Used)
	}
}

// chosen tests the ways to choose records, alone and together: a range, numbers and kinds. All of them have to match.
// Records are numbered from 1, so that record n is want[n-1].
func chosen(t *testing.T, a, _ store.Store) {
	h := create(t, a, local)
	// With three kinds of records, of which one comes twice as often.
	kinds := []store.Kind{store.Added, store.Rewritten, store.State, store.Added}
	var want []string
	// Kinds take turns, so that each choice of them leaves gaps.
	for seq := 1; seq <= 1500; { // more than a store reads at once
		var change store.Change
		for range 100 {
			text := fmt.Sprint("r", seq)
			change.Records = append(change.Records, record(kinds[seq%4], text))
			want = append(want, fmt.Sprintf("%d %s", seq, text))
			seq++
		}
		h = appendChange(t, a, h, change)
	}
	check := func(choice store.Choice, want []string) {
		t.Helper()
		if got := texts(t, a, local, choice); !slices.Equal(got, want) {
			t.Errorf("%+v: got %d records %.60q, want %d %.60q", choice, len(got), got, len(want), want)
		}
	}
	check(store.Choice{}, want)
	check(store.Choice{From: 1400}, want[1399:])
	check(store.Choice{To: 3}, want[:3])
	check(store.Choice{From: 2, To: 1200}, want[1:1200])
	// A range beyond the end is empty, not an error: readers ask for the tail from where they are.
	check(store.Choice{From: 1501}, nil)
	// Numbers beyond the end are left out without an error.
	check(store.Choice{Seqs: []uint64{1, 2, 1000, 1500, 1501}}, []string{want[0], want[1], want[999], want[1499]})
	// No numbers are not the same as any number.
	check(store.Choice{Seqs: []uint64{}}, nil)
	check(store.Choice{Seqs: []uint64{1, 2, 5, 9}, From: 2, To: 8}, []string{want[1], want[4]})
	check(store.Choice{From: 1, To: 8, Kinds: []store.Kind{store.Rewritten, store.State}},
		[]string{want[0], want[1], want[4], want[5]})
	check(store.Choice{Seqs: []uint64{1, 3}, Kinds: []store.Kind{store.Added}}, want[2:3])

	// More numbers than one page has.
	var every []uint64
	for seq := uint64(1); seq <= 1500; seq++ {
		every = append(every, seq)
	}
	check(store.Choice{Seqs: every}, want)
}

// createdTwice tests that the second of two hosts that create a session learns of the first, and changes nothing.
func createdTwice(t *testing.T, a, b store.Store) {
	h := add(t, a, create(t, a, local), "kept")
	// By the other host: the store decides, not the memory of one.
	_, err := b.Create(t.Context(), local, store.Origin{})
	wantError(t, err, store.ErrExists)
	if got := head(t, b, local); got.Position() != h.Position() {
		t.Errorf("the session is at %+v, want %+v", got.Position(), h.Position())
	}
}

// notFound tests calls for a session that was never created. Release is the exception, because a host also releases
// what was deleted meanwhile.
func notFound(t *testing.T, a, _ store.Store) {
	ctx := t.Context()
	_, err := a.Head(ctx, local)
	wantError(t, err, store.ErrNotFound)
	_, err = a.Append(ctx, local, store.Position{}, store.Change{Records: []store.Record{record(store.Added, "x")}})
	wantError(t, err, store.ErrNotFound)
	for _, err := range a.Records(ctx, local, store.Choice{}) {
		wantError(t, err, store.ErrNotFound)
	}
	_, err = a.Lease(ctx, local, "a", Timeout)
	wantError(t, err, store.ErrNotFound)
	wantError(t, a.Release(ctx, local, "a"), nil)
	wantError(t, a.Delete(ctx, local), store.ErrNotFound)
	wantError(t, a.RevokeAccess(ctx, "x"), store.ErrNotFound)
}

// conflict tests all that a refused append must not leave behind: records, a snapshot, contents, a summary. The
// conflict names where the session is, so that the host need not ask.
func conflict(t *testing.T, a, b store.Store) {
	first := create(t, a, local)
	now := add(t, a, first, "a's")
	// Behind, ahead, and of another fence.
	for _, at := range []store.Position{
		first.Position(),
		{Revision: now.Revision + 1, Fence: now.Fence},
		{Revision: now.Revision, Fence: now.Fence + 1},
	} {
		_, err := b.Append(t.Context(), local, at, store.Change{
			Records:  []store.Record{record(store.Added, "b's"), record(store.Snapshot, "b's")},
			Contents: [][]byte{large(1)},
			Summary:  store.Summary{Entries: 9},
		})
		wantConflict(t, err, now)
	}
	// All or nothing: not even the first record may be there.
	if got := texts(t, b, local, store.Choice{}); !slices.Equal(got, []string{"1 a's"}) {
		t.Errorf("the log is %q", got)
	}
	// The summary and the time of use are those of the last append that was written.
	if got := head(t, b, local); got != now {
		t.Errorf("the head is %+v, want %+v", got, now)
	}
	if _, err := b.Contents(t.Context(), "", []store.Hash{store.HashOf(large(1))}); !store.IsCause(err, store.Corrupt) {
		t.Errorf("the content of a refused append: %v", err)
	}
}

// Each of several writers appends at the revision it knows until it has written its records. In the end the log has
// all of them, and those of one writer in its order.
func concurrent(t *testing.T, a, b store.Store) {
	create(t, a, local)
	// Enough to conflict, few enough for a slow disk.
	const writers, each = 4, 10
	var wg sync.WaitGroup
	for w := range writers {
		// Writers of both hosts, as one host may serialise its own.
		s := []store.Store{a, b}[w%2]
		wg.Go(func() {
			h, err := s.Head(t.Context(), local)
			for n := 0; n < each && err == nil; {
				change := store.Change{Records: []store.Record{record(store.Added, fmt.Sprintf("%d:%d", w, n))}}
				var next store.Head
				next, err = s.Append(t.Context(), local, h.Position(), change)
				// A writer that lost goes on from where the conflict says that the session is. That must be enough: no
				// second read.
				var conflict *store.ConflictError
				switch {
				case errors.As(err, &conflict):
					h, err = conflict.Now, nil
				case err == nil:
					h, n = next, n+1
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got := texts(t, a, local, store.Choice{})
	if len(got) != writers*each {
		t.Fatalf("%d records, want %d: %q", len(got), writers*each, got)
	}
	// What each writer appends next, if none of its records was lost or written twice.
	var next [writers]int
	// Sequence numbers follow from the order of records, so that only the writer's own count is checked.
	for _, text := range got {
		var seq, w, n int
		if _, err := fmt.Sscanf(text, "%d %d:%d", &seq, &w, &n); err != nil || n != next[w] {
			t.Fatalf("%q: writer %d is at %d (%v)", text, w, next[w], err)
		}
		next[w]++
	}
}

// manySessions tests that sessions do not disturb each other when a store puts their appends into one transaction.
func manySessions(t *testing.T, a, b store.Store) {
	var wg sync.WaitGroup
	// Numbers have two digits, so that the order of ids is that of numbers.
	for n := range 32 {
		s := []store.Store{a, b}[n%2]
		key := store.Key{Owner: "o", ID: fmt.Sprintf("s%02d", n)}
		wg.Go(func() {
			h, err := s.Create(t.Context(), key, store.Origin{})
			for i := 0; i < 5 && err == nil; i++ {
				h, err = s.Append(t.Context(), key, h.Position(), store.Change{
					Records: []store.Record{record(store.Added, fmt.Sprint(i)), record(store.State, "")},
				})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for n := range 32 {
		key := store.Key{Owner: "o", ID: fmt.Sprintf("s%02d", n)}
		if got := texts(t, a, key, store.Choice{}); len(got) != 10 || got[8] != "9 4" {
			t.Errorf("%s: %q", key.ID, got)
		}
	}
}

// emptyChange is what a host writes when only the summary is new. Readers have nothing to read, so the revision stays.
// It is an append in every other way: it needs the position, and counts as a use.
func emptyChange(t *testing.T, a, _ store.Store) {
	h := add(t, a, create(t, a, local), "x")
	now := appendChange(t, a, h, store.Change{Summary: store.Summary{Tokens: 5}})
	// The byte is the record from before.
	if now.Position() != h.Position() || now.Tokens != 5 || now.Bytes != 1 {
		t.Errorf("the head is %+v, was %+v", now, h)
	}
}

// snapshots tests that the head knows the last snapshot, also if one append has several and records after them. A
// reader that begins there needs nothing before it.
func snapshots(t *testing.T, a, b store.Store) {
	h := add(t, a, create(t, a, local), "x")
	h = appendChange(t, a, h, store.Change{Records: []store.Record{
		record(store.Snapshot, "first"), record(store.Snapshot, "second"), record(store.Added, "y"),
	}})
	h = add(t, a, h, "z")
	// The last append had no snapshot, and must not have reset the number.
	if got := head(t, b, local); got.Snapshot != 3 || h.Snapshot != 3 {
		t.Errorf("the last snapshot is %d at one host and %d at the other, want 3", h.Snapshot, got.Snapshot)
	}
	if got := texts(t, b, local, store.Choice{From: h.Snapshot}); len(got) != 3 || got[0] != "3 second" {
		t.Errorf("from the snapshot: %q", got)
	}
}

// contents tests that a large content is stored once for an owner, counted once for each session that refers to it, and
// deleted with the last reference. Hashes are no secret: a content is read only by its owner.
func contents(t *testing.T, a, b store.Store) {
	ctx := t.Context()
	change := func(contents ...[]byte) store.Change {
		return store.Change{Records: []store.Record{record(store.Added, "r")}, Contents: contents}
	}
	one := store.Key{Owner: "o", ID: "one"}
	two := store.Key{Owner: "o", ID: "two"}
	// The same content twice in one append, and then in another one of the same session.
	h1 := appendChange(t, a, create(t, a, one), change(large(1), large(2), large(1)))
	// One byte of record, and two contents of 100 kB: the third is the first again.
	if want := int64(1 + 200_000); h1.Bytes != want {
		t.Errorf("%d bytes, want %d", h1.Bytes, want)
	}
	h1 = appendChange(t, a, h1, change(large(1)))
	// That is why a session's size is not the sum of its appends.
	// The session refers to that content already, so only the record is added.
	if want := int64(2 + 200_000); h1.Bytes != want {
		t.Errorf("%d bytes after the same content once more, want %d", h1.Bytes, want)
	}
	// The second session shares a content with the first, and has an empty one of its own.
	appendChange(t, b, create(t, b, two), change(large(1), nil))

	read := func(want ...[]byte) {
		t.Helper()
		var hashes []store.Hash
		for _, content := range want {
			hashes = append(hashes, store.HashOf(content))
		}
		got, err := b.Contents(ctx, "o", hashes)
		if err != nil {
			t.Fatal(err)
		}
		for _, content := range want {
			if !bytes.Equal(got[store.HashOf(content)], content) {
				t.Errorf("content %.10q came back as %.10q", content, got[store.HashOf(content)])
			}
		}
	}
	// gone checks that a content cannot be read. A reference that leads nowhere means that the store is damaged.
	gone := func(owner string, content []byte) {
		t.Helper()
		if _, err := b.Contents(ctx, owner, []store.Hash{store.HashOf(content)}); !store.IsCause(err, store.Corrupt) {
			t.Errorf("content %.10q of %q: %v", content, owner, err)
		}
	}
	read(large(1), large(2), nil)
	// The hash is right, but the owner has no session with this content.
	gone("another", large(1))
	if err := a.Delete(ctx, one); err != nil {
		t.Fatal(err)
	}
	read(large(1), nil)
	gone("o", large(2))
	// Deleted by the other host than the one that wrote the first reference.
	if err := b.Delete(ctx, two); err != nil {
		t.Fatal(err)
	}
	gone("o", large(1))
}

// forked tests that a fork does not need its parent: it only names it, also when that is deleted.
func forked(t *testing.T, a, b store.Store) {
	parent := add(t, a, create(t, a, local), "x", "y")
	origin := store.Origin{Parent: parent.Key, ForkedAt: parent.Revision, ForkedEntries: 2}
	if _, err := a.Create(t.Context(), store.Key{ID: "fork"}, origin); err != nil {
		t.Fatal(err)
	}
	if err := a.Delete(t.Context(), local); err != nil {
		t.Fatal(err)
	}
	if got := head(t, b, store.Key{ID: "fork"}); got.Origin != origin {
		t.Errorf("the origin is %+v, want %+v", got.Origin, origin)
	}
}

// canceled tests a call whose context ended before it began. The caller may rely on it that nothing was written.
func canceled(t *testing.T, a, _ store.Store) {
	h := create(t, a, local)
	ctx, cancel := context.WithCancel(t.Context())
	// Before the calls, not during them: what happens then depends on how far a call has come.
	cancel()
	_, err := a.Append(ctx, local, h.Position(), store.Change{Records: []store.Record{record(store.Added, "x")}})
	wantError(t, err, context.Canceled)
	_, err = a.Head(ctx, local)
	wantError(t, err, context.Canceled)
	if got := head(t, a, local); got.Revision != 0 {
		t.Errorf("a call that was canceled before it began has written revision %d", got.Revision)
	}
}

// nested tests that a loop over records holds no lock and no connection that other calls of its body need. In a store
// of one connection such a call would wait for ever; the test's deadline finds it.
func nested(t *testing.T, a, _ store.Store) {
	h := create(t, a, local)
	for range 40 {
		h = add(t, a, h, "x", "y")
	}
	n := 0
	for _, err := range a.Records(t.Context(), local, store.Choice{}) {
		if err != nil {
			t.Fatal(err)
		}
		h = add(t, a, h, "z")
		// The store has one session, so each list adds one.
		for range a.List(t.Context(), store.Filter{}) {
			n++
		}
		if n == 20 {
			break // leaving the loop early is allowed too
		}
	}
	if n != 20 {
		t.Errorf("%d rounds", n)
	}
}
