package window

import (
	"sync"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/outcome"
)

// Turn is what a Prepare or a Compress of a session came to, for those that watch.
type Turn struct {
	Key store.Key
	// Method is "prepare" or "compress".
	Method string
	// Revision and Tokens are those of the prepared history, or of the compressed one; Pending is what the agent's request
	// has besides.
	Revision        uint64
	Tokens, Pending int
	Outcome         outcome.Outcome
	Err             error
	// Identified says that a door edits the agent's own request by it ([Session.PrepareIdentified]), and knows better than
	// the host what is sent.
	Identified bool
}

// told are those that are told of every turn.
type told struct {
	mu  sync.Mutex
	all map[*func(Turn)]struct{}
}

// Watch has f called after every turn of every session, until stop is called. It must be quick: the turn waits for it.
func (h *Host) Watch(f func(Turn)) (stop func()) {
	h.told.mu.Lock()
	defer h.told.mu.Unlock()
	if h.told.all == nil {
		h.told.all = map[*func(Turn)]struct{}{}
	}
	h.told.all[&f] = struct{}{}
	return func() {
		h.told.mu.Lock()
		defer h.told.mu.Unlock()
		delete(h.told.all, &f)
	}
}

func (h *Host) tell(t Turn) {
	h.told.mu.Lock()
	defer h.told.mu.Unlock()
	for f := range h.told.all {
		(*f)(t)
	}
}

// Done is closed when the host is.
func (h *Host) Done() <-chan struct{} { return h.done }
