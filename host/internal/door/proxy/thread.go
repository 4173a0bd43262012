package proxy

import (
	"container/list"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/provider/body"
)

// Conversations and the search in them. A point is kept for each request that a branch has had, under the sum of its
// items, so that a retry, a fork and an ordinary next request are found in the same way: by the longest beginning.

// threads are the conversations of a server by identity, and the branches of all of them by use. Lock order: mu is
// never held together with that of a thread, nor while a branch's is waited for. The zero value is empty.
type threads struct {
	mu    sync.Mutex
	byKey map[string]*thread
	used  list.List // of *branch, the most recently used first
	bytes int       // what these take, about
}

// thread is a conversation as its client knows it: a tree of branches. Requests that go on where a branch ends belong
// to it; one that differs earlier begins a branch of its own, at the last point that both have. Its mu is taken while a
// branch's is held, never the other way round.
type thread struct {
	identity identity
	// users are the branches in threads.used, and requests that look for one. A thread without any is forgotten. It is
	// guarded by threads.mu.
	users int

	// mu guards what follows.
	mu     sync.Mutex
	points map[body.Sum]point // by the sum of the last item
	latest point              // where something was added last
}

// point is where a branch stood after one of its requests. The zero value is none.
type point struct {
	branch *branch // nil if the session is only stored
	// session is its id, and revision that of its log before anything more was added; 0 for the branch's end.
	session  string
	revision uint64
	// entries are those of the first items. The slice is shared with the branch, which only appends to it.
	entries []body.Entry
	items   int
	whole   int // tokens of the entries
	// under is what stood here before a branch that began here; it stands here again when the branch has gone on, so
	// that all branches that begin here have one parent.
	under *point
}

// without returns what stands at a point when a branch is gone; nil for nothing.
func (p *point) without(b *branch) *point {
	if p == nil {
		return nil
	}
	left := *p
	if left.under = p.under.without(b); p.branch == b {
		return left.under
	}
	return &left
}

// of returns the thread of an identity. The caller gives it up with [threads.release].
func (t *threads) of(id identity) *thread {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey == nil {
		t.byKey = map[string]*thread{}
	}
	found := t.byKey[id.key]
	if found == nil {
		found = &thread{identity: id, points: map[body.Sum]point{}}
		t.byKey[id.key] = found
	}
	found.users++
	return found
}

// release gives up a thread that was returned by [threads.of].
func (t *threads) release(of *thread) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.releaseLocked(of)
}

// The caller holds t.mu.
func (t *threads) releaseLocked(of *thread) {
	if of.users--; of.users == 0 {
		delete(t.byKey, of.identity.key)
	}
}

// use notes that a branch is used, whose lock is held, and what it takes in memory. It returns the branches that were
// used longest ago, if all take more than most bytes together; 0 is no limit. The caller closes them, whose locks are
// held. Branches in work are left alone.
func (t *threads) use(b *branch, bytes, most int) (old []*branch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b.listed == nil {
		b.listed, b.counted = t.used.PushFront(b), true
		b.thread.users++
	} else {
		t.used.MoveToFront(b.listed)
	}
	t.bytes, b.bytes = t.bytes+bytes-b.bytes, bytes
	for e := t.used.Back(); e != nil && most > 0 && t.bytes > most; {
		o := e.Value.(*branch)
		e = e.Prev()
		if o.mu.TryLock() {
			t.unlist(o)
			old = append(old, o)
		}
	}
	return old
}

// unlist takes a branch off the list, if it is there. The caller holds t.mu.
func (t *threads) unlist(b *branch) {
	if b.listed != nil {
		t.used.Remove(b.listed)
		t.bytes, b.listed, b.bytes = t.bytes-b.bytes, nil, 0
	}
}

// remove makes a branch that was closed none of its thread's.
func (t *threads) remove(b *branch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unlist(b)
	if b.counted {
		b.counted = false
		t.releaseLocked(b.thread)
	}
}

// get returns the thread with a key; nil if there is none.
func (t *threads) get(key string) *thread {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byKey[key]
}

// having returns the conversation of a scope that a request goes on with: the one that has most of its items; nil if
// there is none.
func (t *threads) having(scope string, chain []body.Sum) (found *thread) {
	at := make(map[body.Sum]int, len(chain))
	for i, sum := range chain {
		at[sum] = i + 1
	}
	most := 0
	for _, b := range t.all() {
		if b.thread.identity.scope != scope {
			continue
		}
		b.thread.mu.Lock()
		if n := at[b.head]; n > most {
			most, found = n, b.thread
		}
		b.thread.mu.Unlock()
	}
	return found
}

// origin returns where a conversation was when something was begun in it that has no beginning in common with it: a
// history that the client has compacted, or a subagent. The zero point if that is not known.
func (t *threads) origin(of *thread) point {
	if of.identity.parent != "" {
		if of = t.get(of.identity.parent); of == nil {
			return point{}
		}
	}
	if of.identity.shared { // the other conversations in it are strangers
		return point{}
	}
	of.mu.Lock()
	p := of.latest
	of.mu.Unlock()
	if p.branch != nil {
		p.revision = p.branch.session.Position()
	}
	return p
}

// all returns every branch, the most recently used first.
func (t *threads) all() []*branch {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*branch
	for e := t.used.Front(); e != nil; e = e.Next() {
		out = append(out, e.Value.(*branch))
	}
	return out
}

// find returns the branch that a request goes on from, with its lock held: the one with the longest beginning of the
// request. If the request differs before the branch's end, there is none, and from is the point up to which they are
// the same. chain has a sum for each beginning.
func (t *thread) find(chain []body.Sum) (b *branch, from point) {
	for {
		p := t.longest(chain)
		if p.branch == nil || p.revision > 0 { // the branch has gone on from there
			return nil, p
		}
		p.branch.mu.Lock()
		// Another request may have gone on from it, or closed it, while this one waited.
		if n := p.branch.items; !p.branch.closed && n <= len(chain) && chain[n-1] == p.branch.head {
			return p.branch, point{}
		}
		p.branch.mu.Unlock()
	}
}

// longest returns the point with the longest beginning of a request: a branch is preferred to the one that it grew
// from.
func (t *thread) longest(chain []body.Sum) point {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(chain) - 1; i >= 0; i-- {
		if p, ok := t.points[chain[i]]; ok {
			return p
		}
	}
	return point{}
}

// begin makes a branch, with its lock held.
func (t *thread) begin() *branch {
	b := &branch{thread: t}
	b.mu.Lock()
	return b
}

// advance notes where a branch ends now, whose log had a revision before. Two branches with the same end cannot be told
// apart: the later one is found from then on.
func (t *thread) advance(b *branch, head body.Sum, items int, before uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// The old end is now a point within the branch, from which others may fork.
	if p := t.points[b.head]; p.branch == b {
		if p.revision = before; p.under != nil {
			p = *p.under
		}
		t.points[b.head] = p
	}
	b.head, b.items = head, items
	t.latest = point{branch: b, session: b.session.ID(), entries: b.entries, items: items, whole: b.whole}
	now := t.latest
	if p := t.points[head]; p.revision > 0 {
		now.under = &p
	}
	t.points[head] = now
}

// remove removes a branch, of which no request is to go on.
func (t *thread) remove(b *branch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for sum, p := range t.points {
		if left := p.without(b); left != nil {
			t.points[sum] = *left
		} else {
			delete(t.points, sum)
		}
	}
	if t.latest.branch == b {
		t.latest = point{}
	}
}
