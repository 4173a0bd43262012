package service

import (
	"sync"

	"github.com/thresh-dev/thresh/host/outcome"
)

// Event is a turn of a session, for those that watch.
type Event struct {
	Session  string `json:"session,omitempty" jsonschema:"absent in the first line of a watch"`
	Method   string `json:"method,omitempty" jsonschema:"prepare or compress"`
	Revision uint64 `json:"revision,omitempty"`
	Tokens   int    `json:"tokens,omitempty"`
	// Pending is what the request holds besides the history, in tokens.
	Pending int             `json:"pendingTokens,omitempty"`
	Outcome outcome.Outcome `json:"outcome,omitzero" jsonschema:"what was done"`
	// Err is why the turn failed; nil if it did not. Error is the same for agents; a door sets it.
	Err   error    `json:"-"`
	Error *Failure `json:"error,omitempty" jsonschema:"why the turn failed"`
	// Missed is how many events were dropped before this one, because the watcher did not read them in time.
	Missed int `json:"missed,omitempty" jsonschema:"turns before this one that were not read in time"`
}

// WatchRequest names a session; "" is all that the owner has.
type WatchRequest struct {
	Session string `json:"session,omitempty" jsonschema:"absent for all sessions of the token"`
}

// maxEvents is how many events wait for a slow watcher. Turns never wait for it.
const maxEvents = 64

type watchers struct {
	mu   sync.Mutex
	open map[*Watcher]struct{}
}

// Watcher receives the events of an owner's sessions. Close it.
type Watcher struct {
	// Events has what was not dropped. It is never closed: a door stops reading when its caller does.
	Events chan Event

	service *Service
	owner   string
	session string // "" is all
	missed  int    // guarded by watchers.mu
}

// Watch reports turns from now on, of one session or, with "", of all that the owner has.
func (s *Service) Watch(owner, session string) *Watcher {
	w := &Watcher{Events: make(chan Event, maxEvents), service: s, owner: owner, session: session}
	s.watchers.mu.Lock()
	defer s.watchers.mu.Unlock()
	s.watchers.open[w] = struct{}{}
	return w
}

func (w *Watcher) Close() {
	w.service.watchers.mu.Lock()
	defer w.service.watchers.mu.Unlock()
	delete(w.service.watchers.open, w)
}

func (s *Session) publish(e Event) {
	all := &s.service.watchers
	e.Session = s.key.id
	if s.service.observe != nil {
		s.service.observe(s.key.owner, e)
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	for w := range all.open {
		if w.owner != s.key.owner || w.session != "" && w.session != e.Session {
			continue
		}
		e.Missed = w.missed
		select {
		case w.Events <- e:
			w.missed = 0
		default:
			w.missed++
		}
	}
}
