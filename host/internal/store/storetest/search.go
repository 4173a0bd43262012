package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// index adds a part with pieces of these texts, by their numbers, which must succeed.
func index(t *testing.T, s store.Store, key store.Key, after, until uint64, pieces ...string) {
	t.Helper()
	if !indexes(t, s, key, after, until, pieces...) {
		t.Fatalf("a part after %d was refused", after)
	}
}

func indexes(t *testing.T, s store.Store, key store.Key, after, until uint64, pieces ...string) bool {
	t.Helper()
	part := store.Part{After: after, Until: until, Pieces: map[int][]byte{}}
	for number, text := range pieces {
		if text != "-" {
			part.Pieces[number] = []byte(text)
		}
	}
	ok, err := s.Index(t.Context(), key, part)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// wantFound tests what is found: for each part its end and its pieces, such as "7: 0=a 2=b".
func wantFound(t *testing.T, s store.Store, key store.Key, pieces []int, want ...string) {
	t.Helper()
	parts, err := s.Find(t.Context(), key, pieces)
	if err != nil {
		t.Fatal(err)
	}
	told := func(p store.Part) string {
		text := fmt.Sprintf("%d:", p.Until)
		for _, number := range slices.Sorted(maps.Keys(p.Pieces)) {
			text += fmt.Sprintf(" %d=%s", number, p.Pieces[number])
		}
		return text
	}
	var got []string
	for _, p := range parts {
		got = append(got, told(p))
	}
	if !slices.Equal(got, want) {
		t.Errorf("pieces %v are %q, want %q", pieces, got, want)
	}
	last, err := s.Last(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(parts); n == 0 {
		if last.Until != 0 || len(last.Pieces) > 0 {
			t.Errorf("the last part of none is %s", told(last))
		}
	} else if got, want := told(last), told(parts[n-1].With(nil)); got != want {
		t.Errorf("the last part is %s, want %s", got, want)
	}
}

// indexed tests that pieces are found as they are, in parts, at both hosts.
func indexed(t *testing.T, a, b store.Store) {
	create(t, a, local)
	wantFound(t, b, local, []int{1})
	long := strings.Repeat("\x00\xff é", 10_000)
	index(t, a, local, 0, 7, "first", "one", "-", "", long)
	index(t, b, local, 7, 1<<62, "second", "-", "two", "-", "four")
	wantFound(t, a, local, nil, "7: 0=first", fmt.Sprint(1<<62, ": 0=second"))
	wantFound(t, b, local, []int{1, 2, 3, 32767}, "7: 0=first 1=one 3=", fmt.Sprint(1<<62, ": 0=second 2=two"))
	wantFound(t, a, local, []int{4}, "7: 0=first 4="+long, fmt.Sprint(1<<62, ": 0=second 4=four"))
	none := store.Key{ID: "none"}
	_, err := a.Find(t.Context(), none, []int{1})
	wantError(t, err, store.ErrNotFound)
	_, err = a.Last(t.Context(), none)
	wantError(t, err, store.ErrNotFound)
	_, err = a.Index(t.Context(), none, store.Part{Until: 1, Pieces: map[int][]byte{0: {1}}})
	wantError(t, err, store.ErrNotFound)
}

// overtaken tests that a part which does not continue the index writes nothing, also when hosts index at once.
func overtaken(t *testing.T, a, b store.Store) {
	create(t, a, local)
	if indexes(t, a, local, 3, 5, "early") {
		t.Error("a part was added behind an index that is not there")
	}
	index(t, a, local, 0, 5, "first")
	if indexes(t, b, local, 3, 5, "twice") || indexes(t, b, local, 6, 7, "gap") {
		t.Error("a part was added elsewhere than at the end")
	}
	wantFound(t, a, local, nil, "5: 0=first")
	var wg sync.WaitGroup
	added := make([]bool, 6)
	for n := range added {
		wg.Go(func() { added[n] = indexes(t, []store.Store{a, b}[n%2], local, 5, 8, "same") })
	}
	wg.Wait()
	if n := len(slices.DeleteFunc(added, func(ok bool) bool { return !ok })); n != 1 {
		t.Errorf("%d of the same parts were added", n)
	}
	wantFound(t, b, local, nil, "5: 0=first", "8: 0=same")
}

// replaced tests that an index can be made again, by a program that has another idea of it.
func replaced(t *testing.T, a, b store.Store) {
	create(t, a, local)
	index(t, a, local, 0, 5, "one", "x", "y")
	index(t, a, local, 5, 6, "two", "x")
	index(t, b, local, 0, 4, "three", "-", "z")
	index(t, a, local, 4, 6, "four")
	wantFound(t, a, local, []int{1, 2}, "4: 0=three 2=z", "6: 0=four")
}

// apart tests that sessions share nothing, and that an index goes with its session, not with another's.
func apart(t *testing.T, a, b store.Store) {
	keys := []store.Key{local, {ID: "s2"}, {Owner: "o", ID: "s"}}
	of := func(key store.Key) string { return "of " + key.Owner + "/" + key.ID }
	for _, key := range keys {
		create(t, a, key)
		index(t, a, key, 0, 1, of(key), of(key))
	}
	whole := func(key store.Key) string { return fmt.Sprintf("1: 0=%[1]s 1=%[1]s", of(key)) }
	for _, key := range keys {
		wantFound(t, b, key, []int{1}, whole(key))
	}
	if err := b.Delete(t.Context(), local); err != nil {
		t.Fatal(err)
	}
	create(t, a, local)
	wantFound(t, a, local, []int{1})
	wantFound(t, a, keys[2], []int{1}, whole(keys[2]))
	wantFound(t, a, keys[1], []int{1}, whole(keys[1]))
	if err := a.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// manyParts tests an index of more parts and pieces than are read or written at once.
func manyParts(t *testing.T, a, b store.Store) {
	create(t, a, local)
	var want []string
	for part := range 200 {
		pieces := make([]string, 100)
		for i := range pieces {
			pieces[i] = fmt.Sprint(part, "/", i)
		}
		index(t, a, local, uint64(part), uint64(part+1), pieces...)
		want = append(want, fmt.Sprintf("%d: 0=%d/0 17=%[2]d/17 99=%[2]d/99", part+1, part))
	}
	wantFound(t, b, local, []int{17, 99, 100}, want...)
}
