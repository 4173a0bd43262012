package proxy

import (
	"container/list"
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
}

// thread is a conversation as its client knows it: a tree of branches. Requests that go on where a branch ends belong
// to it; one that differs earlier begins a branch of its own. Its mu is taken while a branch's is held, never the other
// way round.
type thread struct {
	identity identity

	mu    sync.Mutex
	heads map[body.Sum]*branch // the branches by the sum of their last item
	// recalled are results that are not sent as they were, by the ids of their calls; nil without the option Recall.
	// They are the branches' own, so that they take no memory but that of the map.
	recalled map[string]content.ToolResponse
}

// of returns the thread of an identity, and the threads that must be closed to make room for it. The caller closes them
// without a lock held, because closing waits for requests.
func (t *threads) of(id identity) (found *thread, old []*thread) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey == nil {
		t.byKey = map[string]*list.Element{}
	}
	if e := t.byKey[id.key]; e != nil {
		t.used.MoveToFront(e)
		return e.Value.(*thread), nil
	}
	found = &thread{identity: id, heads: map[body.Sum]*branch{}}
	t.byKey[id.key] = t.used.PushFront(found)
	for t.used.Len() > maxThreads {
		last := t.used.Remove(t.used.Back()).(*thread)
		delete(t.byKey, last.identity.key)
		old = append(old, last)
	}
	return found, old
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

// find returns the branch that a request goes on from, with its lock held, and nil if there is none: the one with the
// longest beginning of the request. chain has a sum for each beginning.
func (t *thread) find(chain []body.Sum) *branch {
	for {
		b := t.longest(chain)
		if b == nil {
			return nil
		}
		b.mu.Lock()
		// Another request may have gone on from it while this one waited.
		if n := b.items; n > 0 && n <= len(chain) && chain[n-1] == b.head && !b.closed {
			return b
		}
		b.mu.Unlock()
	}
}

// The longest first, so that a branch is preferred to the one that it grew from.
func (t *thread) longest(chain []body.Sum) *branch {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(chain) - 1; i >= 0; i-- {
		if b := t.heads[chain[i]]; b != nil {
			return b
		}
	}
	return nil
}

// begin makes a branch, with its lock held.
func (t *thread) begin() *branch {
	b := &branch{thread: t}
	b.mu.Lock()
	return b
}

// advance notes where a branch ends now. Two branches with the same end cannot be told apart: the later one is found
// from then on.
func (t *thread) advance(b *branch, head body.Sum, items int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heads[b.head] == b {
		delete(t.heads, b.head)
	}
	b.head, b.items = head, items
	t.heads[head] = b
}

// close closes the sessions of all branches. It waits for requests that are in work.
func (t *thread) close() {
	t.mu.Lock()
	var all []*branch
	for _, b := range t.heads {
		all = append(all, b)
	}
	t.heads = map[body.Sum]*branch{}
	t.mu.Unlock()
	for _, b := range all {
		b.close()
	}
}
