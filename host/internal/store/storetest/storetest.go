// Package storetest is the list of behaviours that every session store has. Each implementation runs it in its tests.
//
// Start at [Run]. The behaviours are in files by what they are about.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Open opens an empty store as two hosts see it. Both may be the same value. It closes them when the test ends. Two
// hosts are two values where the store can be shared between processes: behaviour that depends on memory of one value
// is found by the other.
type Open func(t *testing.T) (a, b store.Store)

// behaviours is what [Run] tests. Hosts a and b have the same store. The names are sentences, as they are what a
// failing test prints.
var behaviours = []struct {
	name string
	test func(t *testing.T, a, b store.Store)
}{
	// log.go
	{"records come back as appended, in order, at both hosts", appended},
	{"readers choose records", chosen},
	{"a session that exists is not created again", createdTwice},
	{"what is not there is not found", notFound},
	{"an append that has not seen the last one writes nothing", conflict},
	{"of concurrent appends at one revision one is written", concurrent},
	{"many sessions are written at once", manySessions},
	{"a change with nothing in it moves nothing but the summary", emptyChange},
	{"the last snapshot is known", snapshots},
	{"a large content is kept once, and until no session refers to it", contents},
	{"a fork knows its parent", forked},
	// lease.go
	{"a lease keeps others out until it is released", leased},
	{"a lease that ended is taken by another, and its last holder cannot write", fenced},
	{"a lease that ended refuses its holder's write although nobody took it", outlived},
	{"a lease that lasts too long by the clock is cut", tooLong},
	{"the writer of a deleted session cannot write to its successor", recreated},
	// sessions.go, and log.go again near the end
	{"sessions are listed by owner, in order and in pages", listed},
	{"owners do not see each other's sessions", owners},
	{"ids have no control characters and at most 512 bytes", ids},
	{"unused sessions expire", expired},
	// search.go
	{"an index is found as it was written", indexed},
	{"a part of an index is added behind the one that its writer saw", overtaken},
	{"an index can be made again", replaced},
	{"sessions have indexes of their own, which go with them", apart},
	{"an index has many parts and pieces", manyParts},
	// sessions.go again
	{"access tokens are shared, revoked, and replaced after that", accesses},
	{"what is used in a day is added up by all hosts", accounted},
	{"a secret is made once, for all hosts", secret},
	{"usage and size tell what is held", sized},
	{"watchers hear of changes", watched},
	{"a canceled call ends", canceled},
	{"a loop over records may call the store", nested},
	{"a closed store says so", closed},
}

// Run tests a store. Each behaviour has a store of its own, so that none depends on what another has left.
func Run(t *testing.T, open Open) {
	for _, b := range behaviours {
		t.Run(b.name, func(t *testing.T) {
			one, other := open(t)
			b.test(t, one, other)
		})
	}
}

// Timeout is how long a test waits for what must happen. It is long: only a store that is wrong waits that long, and a
// loaded machine must not fail the test.
const Timeout = 30 * time.Second

// local is the session of most tests, of the local user.
var local = store.Key{ID: "s"}

// create makes a session. It is no fork.
func create(t *testing.T, s store.Store, key store.Key) store.Head {
	t.Helper()
	h, err := s.Create(t.Context(), key, store.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// add appends one record for each text. The result is the head to append to next.
func add(t *testing.T, s store.Store, h store.Head, texts ...string) store.Head {
	t.Helper()
	var change store.Change
	for _, text := range texts {
		change.Records = append(change.Records, record(store.Added, text))
	}
	return appendChange(t, s, h, change)
}

// appendChange appends where h says that the session is. It must succeed.
func appendChange(t *testing.T, s store.Store, h store.Head, change store.Change) store.Head {
	t.Helper()
	h, err := s.Append(t.Context(), h.Key, h.Position(), change)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// record makes a record whose bytes are the text. To a store records are opaque.
func record(kind store.Kind, text string) store.Record {
	return store.Record{Kind: kind, Data: []byte(text)}
}

// head reads the state of a session. It must be there.
func head(t *testing.T, s store.Store, key store.Key) store.Head {
	t.Helper()
	h, err := s.Head(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// texts reads records as "seq text". The numbers show that there are no gaps.
func texts(t *testing.T, s store.Store, key store.Key, choice store.Choice) (got []string) {
	t.Helper()
	for r, err := range s.Records(t.Context(), key, choice) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d %s", r.Seq, r.Data))
	}
	return got
}

// list reads the ids of sessions. Each is "owner/id".
func list(t *testing.T, s store.Store, filter store.Filter) (got []string) {
	t.Helper()
	for h, err := range s.List(t.Context(), filter) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, h.Owner+"/"+h.ID)
	}
	return got
}

// wantConflict checks that err says where the session is now. A conflict that reports another place than the present
// one would make the writer read the wrong tail.
func wantConflict(t *testing.T, err error, now store.Head) {
	t.Helper()
	var conflict *store.ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("got %v, want a conflict", err)
	}
	// Times and sizes are compared where a test is about them.
	if conflict.Now.Position() != now.Position() {
		t.Errorf("the conflict says %+v, the session is at %+v", conflict.Now.Position(), now.Position())
	}
}

// wantError uses errors.Is, because errors of a store are wrapped with the name of the session. A nil want means no
// error.
func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// eventually calls try until it succeeds. It is for what depends on the store's clock or on another goroutine. The test
// fails with the last error.
func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	// The limit is on all tries together.
	ctx, cancel := context.WithTimeout(t.Context(), Timeout)
	defer cancel()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// large is a content of 100 kB, the same for the same seed. It is larger than what a log keeps inside of records, and
// has bytes that are no text.
func large(seed byte) []byte { return bytes.Repeat([]byte{seed, 0, 255, '\n'}, 25_000) }
