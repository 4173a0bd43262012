package store

import (
	"context"
	"sync"
)

// Hub passes a process's notices to its watchers. Stores shared by hosts learn of other hosts' notices themselves and
// pass them on here. The zero value is ready to use.
type Hub struct {
	mu       sync.Mutex
	closed   bool
	watchers map[*watcher]struct{}
}

// watcher is one call of Watch. It keeps only the last notice of each session, so a slow watcher's memory is bounded by
// the number of sessions.
type watcher struct {
	pending map[Key]uint64
	lost    bool          // a zero notice is pending
	wake    chan struct{} // has room for one
}

// Notify passes notices on without waiting for watchers. A watcher sees the last notice of a session, not every one.
func (h *Hub) Notify(notices ...Notice) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		for _, n := range notices {
			// A zero notice means that some may have been missed.
			if n == (Notice{}) {
				w.lost = true
			} else {
				w.pending[n.Key] = n.Revision
			}
		}
		w.signal()
	}
}

func (w *watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default: // it has not taken the last signal yet, and will see everything at once
	}
}

// Watch calls changed for each notice until ctx ends or the hub is closed, and returns why; the error is never nil. It
// calls changed from this goroutine, one notice at a time, in no order.
func (h *Hub) Watch(ctx context.Context, changed func(Notice)) error {
	w := &watcher{pending: map[Key]uint64{}, wake: make(chan struct{}, 1)}
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return ErrClosed
	}
	if h.watchers == nil {
		h.watchers = map[*watcher]struct{}{}
	}
	h.watchers[w] = struct{}{}
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers, w)
	}()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.wake:
		}
		h.mu.Lock()
		// Taken as a whole, so changed runs without the lock and may call the hub.
		pending, lost, closed := w.pending, w.lost, h.closed
		w.pending, w.lost = map[Key]uint64{}, false
		h.mu.Unlock()
		if lost {
			changed(Notice{})
		}
		for key, revision := range pending {
			changed(Notice{Key: key, Revision: revision})
		}
		// Only now: notices from before the hub was closed are still passed on.
		if closed {
			return ErrClosed
		}
	}
}

// Watched says whether anyone watches. A store that polls for notices can stop polling while nobody does.
func (h *Hub) Watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watchers) > 0
}

// Close ends all calls of Watch, after the notices that came before.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for w := range h.watchers {
		w.signal()
	}
}
