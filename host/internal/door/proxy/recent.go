package proxy

import (
	"bytes"
	"slices"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/door/proxy/body"
)

// maxRecent bounds the memory of the bodies that are kept to read the next ones by, in bytes.
const maxRecent = 64 << 20

// recent are the bodies that were read last: of clients, and those that were made of them. The next request of a
// conversation begins with the bytes of the last, which then need not be read again. Whose a body is does not matter:
// only bytes that both have are taken over, and nothing else of it is seen. The zero value is empty.
type recent struct {
	mu     sync.Mutex
	bodies []*body.Request // the most recently used last; they are only read
	size   int
}

// read indexes a body: after the one that it goes on from, if that is known. chained is that of [body.Request.Next].
func (r *recent) read(api body.API, raw []byte, chained bool) (*body.Request, error) {
	known := &body.Request{API: api}
	r.mu.Lock()
	if i := r.before(api, raw); i >= 0 {
		known = r.bodies[i]
	}
	r.mu.Unlock()
	return known.Next(raw, chained)
}

// before returns the position of the body that raw seems to go on from; -1 if there is none. A few bytes in the middle
// of each are compared: what many conversations have in common, system prompts and tools, comes first. A wrong guess
// costs time. The caller holds r.mu.
func (r *recent) before(api body.API, raw []byte) int {
	const probe = 128
	for i, b := range slices.Backward(r.bodies) {
		middle := len(b.Raw) / 2
		if end := min(middle+probe, len(b.Raw)); b.API == api && end <= len(raw) &&
			bytes.Equal(b.Raw[middle:end], raw[middle:end]) {
			return i
		}
	}
	return -1
}

// keep keeps a body in the place of the one that it goes on from. The body must not change any more, and be one that
// may be edited.
func (r *recent) keep(b *body.Request) {
	// One body must not push out all others.
	if len(b.Raw) > maxRecent/2 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := r.before(b.API, b.Raw); i >= 0 {
		r.drop(i)
	}
	r.bodies, r.size = append(r.bodies, b), r.size+len(b.Raw)
	for r.size > maxRecent {
		r.drop(0)
	}
}

// drop removes a body. The caller holds r.mu.
func (r *recent) drop(i int) {
	r.size -= len(r.bodies[i].Raw)
	r.bodies = slices.Delete(r.bodies, i, i+1)
}
