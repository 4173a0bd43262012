package check

import (
	"slices"
	"sort"
	"sync"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Index remembers of a history what judging edits needs: where the calls and responses with an id are, and what a
// person said last. An Optimize is then judged in the time of its edits and of the entries that share an id with them,
// whatever the length of the history. The history may grow at its end, and edits may change it ([Index.Applied]); any
// other rewrite needs a new index. The zero value has seen nothing. It is safe for concurrent use.
//
// Entries have numbers: the position that an entry would have if none had ever been removed. So a removal costs nothing
// for the entries behind it.
type Index struct {
	mu     sync.Mutex
	seen   int32              // how many entries have a number
	ids    map[string][]int32 // the entries with a call or a response, by its id, ascending, each once
	humans []int32
	gone   []int32 // the removed entries, ascending
}

// position returns the position of the entry with a number. Callers hold x.mu.
func (x *Index) position(number int32) int {
	before, _ := slices.BinarySearch(x.gone, number)
	return int(number) - before
}

// number is the inverse of position, also for entries not seen yet. Callers hold x.mu.
func (x *Index) number(position int) int32 {
	before := sort.Search(len(x.gone), func(i int) bool { return int(x.gone[i])-i > position })
	return int32(position + before)
}

// extend reads the entries up to n that it has not seen. Callers hold x.mu.
func (x *Index) extend(n int, at func(int) content.Content) {
	if x.ids == nil {
		x.ids = map[string][]int32{}
	}
	for i := x.position(x.seen); i < n; i++ {
		c := at(i)
		for _, b := range c.Blocks {
			if id, ok := content.CallID(b); ok {
				if found := x.ids[id]; len(found) == 0 || found[len(found)-1] != x.seen {
					x.ids[id] = append(found, x.seen)
				}
			}
		}
		if c.Speaker == content.Human && c.HasContent() {
			x.humans = append(x.humans, x.seen)
		}
		x.seen++
	}
}

// newest returns the last of the first n entries in which a person said something; -1 if there is none. Blank entries
// do not count: an agent may send one to make the model go on. Callers hold x.mu.
func (x *Index) newest(n int) int {
	if i, _ := slices.BinarySearch(x.humans, x.number(n)); i > 0 {
		return x.position(x.humans[i-1])
	}
	return -1
}

// Applied returns the index of the history that changes make of this one, in time that depends on the changes only.
// changes are what [Index.Optimize] returned without an error, and at is the history that they were judged against. x
// is empty afterwards, and still valid for its history.
func (x *Index) Applied(at func(int) content.Content, changes []Change) *Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	y := &Index{seen: x.seen, ids: x.ids, humans: x.humans, gone: x.gone}
	x.seen, x.ids, x.humans, x.gone = 0, nil, nil, nil
	if y.ids == nil {
		return y
	}
	numbers := make([]int32, len(changes)) // before any of them is removed
	for i, c := range changes {
		numbers[i] = y.number(c.Index)
	}
	for i, c := range changes {
		// Edits bring no ids: a call without its response, or the reverse, would have been refused.
		left := idsOf(c.Content) // empty for a removed entry
		for id := range idsOf(at(c.Index)) {
			if _, stays := left[id]; !stays {
				y.forget(id, numbers[i])
			}
		}
		if c.Removed { // never one in which a person said something
			y.gone = append(y.gone, numbers[i])
		}
	}
	slices.Sort(y.gone)
	return y
}

func (x *Index) forget(id string, number int32) {
	left := x.ids[id]
	if k, found := slices.BinarySearch(left, number); found {
		left = slices.Delete(left, k, k+1)
	}
	x.ids[id] = left
	if len(left) == 0 {
		delete(x.ids, id)
	}
}

func idsOf(c content.Content) map[string]struct{} {
	ids := map[string]struct{}{}
	collectIDs(ids, c)
	return ids
}

// Optimize returns what the edits do to a history of n entries, in the order of the entries. A later call
// may pass a longer or a shorter beginning of the same history. The error joins everything that is wrong, each an
// [*Error].
func (x *Index) Optimize(n int, at func(int) content.Content, edits []rewrite.Edit) ([]Change, error) {
	if len(edits) == 0 {
		return nil, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.extend(n, at)
	// Applied in the order of the entries. A copy, because the caller keeps the edits.
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b rewrite.Edit) int { return a.Index - b.Index })
	var found problems
	changes := make([]Change, 0, len(edits))
	for i, e := range edits {
		switch {
		case e.Index < 0 || e.Index >= n:
			found.add(wrong(-1, ErrOutOfBounds, "index %d, the history has %d entries", e.Index, n))
		case i > 0 && edits[i-1].Index == e.Index:
			found.add(&Error{Index: e.Index, Err: ErrConflict})
		default:
			changes = append(changes, x.change(&found, at(e.Index), e, n))
		}
	}
	// Pairs mean something only if each edit by itself is right.
	if len(found) == 0 {
		x.pairs(&found, n, at, changes)
	}
	return changes, found.err()
}

// change judges one edit by itself, apart from pairs. It finds everything that is wrong, so an author sees it in one
// run. Callers hold x.mu.
func (x *Index) change(found *problems, c content.Content, e rewrite.Edit, n int) Change {
	if e.Remove {
		quote := func(e *Error) *Error { return e.quoted(describe(c.Blocks...), "") }
		if c.Pinned() {
			found.add(quote(wrong(e.Index, ErrPinned, "it is gone")))
		}
		if c.Speaker == content.Human {
			found.add(quote(&Error{Index: e.Index, Err: ErrHumanLost}))
		}
		if slices.ContainsFunc(c.Blocks, isOpaque) {
			found.add(&Error{Index: e.Index, Err: ErrOpaqueChanged})
		}
		return Change{Part: Part{Index: e.Index}, Removed: true}
	}
	part := edited(found, c, e.Index, e.Blocks, false)
	if c.Speaker == content.Human && e.Index == x.newest(n) {
		found.unchanged(c, part)
	}
	return Change{Part: part}
}

// pairs finds where the pairing of calls and responses got worse. Ids are paired independently of each other, so only
// the touched ones matter, and only the entries that hold them. Late responses need no look: an Optimize adds no
// entries, so nothing new can come between a call and its response.
func (x *Index) pairs(found *problems, n int, at func(int) content.Content, changes []Change) {
	ids := map[string]struct{}{}
	for _, c := range changes {
		collectIDs(ids, at(c.Index))
		collectIDs(ids, c.Content)
	}
	if len(ids) == 0 {
		return
	}
	// The entries that hold the ids: they pair as they do in the whole history.
	var where []int
	for id := range ids {
		for _, number := range x.ids[id] {
			if i := x.position(number); i < n {
				where = append(where, i)
			}
		}
	}
	for _, c := range changes { // an edit may bring an id that its entry did not have
		where = append(where, c.Index)
	}
	slices.Sort(where)
	where = slices.Compact(where)

	was := make([]content.Content, len(where))
	is, left := make([]content.Content, 0, len(where)), make([]Part, 0, len(where))
	for k, i := range where {
		was[k] = at(i)
		for len(changes) > 0 && changes[0].Index < i {
			changes = changes[1:]
		}
		switch {
		case len(changes) == 0 || changes[0].Index != i:
			is, left = append(is, was[k]), append(left, Part{Index: i, Content: was[k]})
		case !changes[0].Removed:
			is, left = append(is, changes[0].Content), append(left, changes[0].Part)
		}
	}
	last := lastSpoken(n, at)
	before, after := turns.Pair(was), turns.Pair(is)
	found.worse(
		pairingOf(was, before, ids, func(k int) int { return where[k] }, last),
		pairingOf(is, after, ids, func(k int) int { return left[k].Index }, last),
	)
	found.crossed(before, after, was, left, func(i int) int {
		k, _ := slices.BinarySearch(where, i)
		return k
	})
}

func collectIDs(ids map[string]struct{}, c content.Content) {
	for _, b := range c.Blocks {
		if id, ok := content.CallID(b); ok {
			ids[id] = struct{}{}
		}
	}
}
