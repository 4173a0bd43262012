package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// index adds a part with passages of these words, which must succeed.
func index(t *testing.T, s store.Store, key store.Key, after, until uint64, passages ...string) {
	t.Helper()
	if !indexes(t, s, key, after, until, passages...) {
		t.Fatalf("a part after %d was refused", after)
	}
}

func indexes(t *testing.T, s store.Store, key store.Key, after, until uint64, passages ...string) bool {
	t.Helper()
	part := store.Part{After: after, Until: until, Data: fmt.Appendf(nil, "until %d", until)}
	for _, p := range passages {
		part.Passages = append(part.Passages, strings.Fields(p))
	}
	ok, err := s.Index(t.Context(), key, part)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// has returns which passages have each of the words, counted from the first one of the index, and where parts end.
func has(t *testing.T, s store.Store, key store.Key, words ...string) (found [][]int, ends []uint64) {
	t.Helper()
	got, err := s.Find(t.Context(), key, words)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range got.Parts {
		if string(p.Data) != fmt.Sprintf("until %d", p.Until) {
			t.Errorf("a part until %d says %q", p.Until, p.Data)
		}
		ends = append(ends, p.Until)
	}
	for _, list := range got.Has {
		numbers := []int{}
		for _, n := range list {
			numbers = append(numbers, int(n)-got.Parts[0].First)
		}
		found = append(found, numbers)
	}
	return found, ends
}

func wantHas(t *testing.T, s store.Store, key store.Key, words string, want ...[]int) {
	t.Helper()
	if got, _ := has(t, s, key, strings.Fields(words)...); !reflect.DeepEqual(got, want) {
		t.Errorf("%s: passages %v, want %v", words, got, want)
	}
}

// indexed tests that terms are found as they are, in parts, at both hosts.
func indexed(t *testing.T, a, b store.Store) {
	create(t, a, local)
	wantHas(t, b, local, "store", []int{})
	long := strings.Repeat("é", 32)
	index(t, a, local, 0, 7, "get user by id getuserbyid", "größe 日本 本語 ทด "+long, "select or not and near null")
	index(t, b, local, 7, 9, "user", "0 42 id")
	wantHas(t, a, local, "user id 日本 "+long+" or near 42 use selec", []int{0, 3}, []int{0, 4}, []int{1}, []int{1}, []int{2},
		[]int{2}, []int{4}, []int{}, []int{})
	if _, ends := has(t, b, local); !slices.Equal(ends, []uint64{7, 9}) {
		t.Errorf("parts end at %d", ends)
	}
	// A part without passages moves the end.
	index(t, a, local, 9, 12)
	index(t, a, local, 12, 13, "late")
	wantHas(t, b, local, "late", []int{5})
	_, err := a.Find(t.Context(), store.Key{ID: "none"}, []string{"user"})
	wantError(t, err, store.ErrNotFound)
	_, err = a.Index(t.Context(), store.Key{ID: "none"}, store.Part{Until: 1})
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
	wantHas(t, a, local, "early first twice gap", []int{}, []int{0}, []int{}, []int{})
	var wg sync.WaitGroup
	added := make([]bool, 6)
	for n := range added {
		wg.Go(func() { added[n] = indexes(t, []store.Store{a, b}[n%2], local, 5, 8, "same") })
	}
	wg.Wait()
	if n := len(slices.DeleteFunc(added, func(ok bool) bool { return !ok })); n != 1 {
		t.Errorf("%d of the same parts were added", n)
	}
	wantHas(t, b, local, "same", []int{1})
}

// replaced tests that an index can be made again, by a program that has another idea of passages.
func replaced(t *testing.T, a, b store.Store) {
	create(t, a, local)
	index(t, a, local, 0, 5, "one two", "two")
	index(t, b, local, 0, 4, "three")
	index(t, a, local, 4, 6, "two")
	wantHas(t, a, local, "one two three", []int{}, []int{1}, []int{0})
}

// apart tests that sessions share no passages, and that an index goes with its session, not with another's.
func apart(t *testing.T, a, b store.Store) {
	keys := []store.Key{local, {ID: "s2"}, {Owner: "o", ID: "s"}}
	for _, key := range keys {
		create(t, a, key)
		index(t, a, key, 0, 1, "common", "of"+strings.Trim(key.Owner+key.ID, "/"))
	}
	for _, key := range keys {
		wantHas(t, b, key, "common ofs ofs2 ofos", []int{0}, one(key == keys[0]), one(key == keys[1]), one(key == keys[2]))
	}
	if err := b.Delete(t.Context(), local); err != nil {
		t.Fatal(err)
	}
	create(t, a, local)
	wantHas(t, a, local, "common ofs", []int{}, []int{})
	wantHas(t, a, keys[2], "common", []int{0})
	if err := a.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantHas(t, a, keys[1], "common ofs2", []int{0}, []int{1})
	if err := a.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func one(is bool) []int {
	if is {
		return []int{1}
	}
	return []int{}
}

// manyPassages tests an index of more parts and passages than are read or written at once.
func manyPassages(t *testing.T, a, b store.Store) {
	create(t, a, local)
	const parts, size = 20, 150
	var all, thirds []int
	for n := range parts * size {
		if all = append(all, n); n%3 == 0 {
			thirds = append(thirds, n)
		}
	}
	for part := range parts {
		passages := make([]string, size)
		for i := range passages {
			n := part*size + i
			passages[i] = fmt.Sprintf("all n%d", n)
			if n%3 == 0 {
				passages[i] += " third"
			}
		}
		index(t, a, local, uint64(part), uint64(part+1), passages...)
	}
	wantHas(t, b, local, "third n1234 all none", thirds, []int{1234}, all, []int{})
}
