package proxy

import (
	"container/list"
	"maps"
	"slices"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/door/proxy/body"
	"github.com/thresh-dev/thresh/sdk/content"
)

// maxThreads is how many conversations are kept in memory. The one that was used longest ago is forgotten: its next
// request begins a session with all of its items.
const maxThreads = 256

// threads are the conversations of a server by identity. Lock order: mu is never held together with that of a thread or
// a branch. The zero value is empty.
type threads struct {
	mu    sync.Mutex
	byKey map[string]*list.Element // of *thread
	used  list.List                // the most recently used first
	bytes int                      // what all of them hold of their clients' requests
}

// thread is a conversation as its client knows it: a tree of branches. Requests that go on where a branch ends belong
// to it; one that differs earlier begins a branch of its own, at the last point that both have. Its mu is taken while a
// branch's is held, never the other way round.
type thread struct {
	identity identity
	bytes    int // what it holds of its client's requests; guarded by the mu of threads

	mu     sync.Mutex
	points map[body.Sum]point // by the sum of the last item
	latest point              // where something was added last
	// recalled are results that are not sent as they were, by the ids of their calls; nil without the option Recall.
	// They are the branches' own, so that they take no memory but that of the map.
	recalled map[string]content.ToolResponse
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

// of returns the thread of an identity, and the threads that must be closed to make room for it: those that were used
// longest ago, while there are more than maxThreads or they hold more than most bytes, 0 for any number. The caller
// closes them without a lock held, because closing waits for requests.
func (t *threads) of(id identity, most int) (found *thread, old []*thread) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey == nil {
		t.byKey = map[string]*list.Element{}
	}
	if t.byKey[id.key] == nil {
		t.byKey[id.key] = t.used.PushFront(&thread{identity: id, points: map[body.Sum]point{}})
	}
	t.used.MoveToFront(t.byKey[id.key])
	for t.used.Len() > maxThreads || t.used.Len() > 1 && most > 0 && t.bytes > most {
		last := t.used.Remove(t.used.Back()).(*thread)
		delete(t.byKey, last.identity.key)
		t.bytes -= last.bytes
		old = append(old, last)
	}
	return t.used.Front().Value.(*thread), old
}

// grew notes that a thread holds more bytes, unless it was forgotten meanwhile.
func (t *threads) grew(of *thread, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.byKey[of.identity.key]; e != nil && e.Value == of {
		of.bytes, t.bytes = of.bytes+bytes, t.bytes+bytes
	}
}

// get returns the thread with a key; nil if there is none.
func (t *threads) get(key string) *thread {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.byKey[key]; e != nil {
		return e.Value.(*thread)
	}
	return nil
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

// all returns every thread.
func (t *threads) all() []*thread {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*thread
	for e := t.used.Front(); e != nil; e = e.Next() {
		out = append(out, e.Value.(*thread))
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

// The longest first, so that a branch is preferred to the one that it grew from.
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

// forget removes a branch, of which no request is to go on.
func (t *thread) forget(b *branch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.points, func(_ body.Sum, p point) bool { return p.branch == b })
	if t.latest.branch == b {
		t.latest = point{}
	}
}

// close closes the sessions of all branches, and returns these. It waits for requests that are in work.
func (t *thread) close() (all []*branch) {
	t.mu.Lock()
	for _, p := range t.points {
		if !slices.Contains(all, p.branch) {
			all = append(all, p.branch)
		}
	}
	t.points, t.latest = map[body.Sum]point{}, point{}
	t.mu.Unlock()
	for _, b := range all {
		b.mu.Lock()
		b.close()
		b.mu.Unlock()
	}
	return all
}
