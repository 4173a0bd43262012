package serve

import (
	"runtime/debug"
	"sync"
	"time"
)

const (
	// restAfter is when a mirror that no call has used is dropped. A provider's prompt cache lasts as long: a session that
	// goes on later pays its provider for all of its history again, beside which sending it here again is nothing.
	restAfter = 5 * time.Minute
	// quietAfter is how long no call has come when memory is given back to the machine, which Go does minutes later.
	quietAfter = 10 * time.Second
)

// mirrors holds the mirrors of sessions that no call is using, at most limit bytes in all; the least recently used are
// dropped first, and all that rest. It is safe for concurrent use. A call that finds no mirror, because it was dropped or
// another call of the session has it, asks for the whole history.
type mirrors struct {
	mu    sync.Mutex
	limit int // bytes; 0: nothing is kept
	total int
	held  map[string]*mirror // by session
	// A list in the order of use. Package container/list would take half as much code again.
	latest, oldest *mirror
	// sweep runs rest, every quietAfter until nothing is held and no call comes. nil: it does not run.
	sweep *time.Timer
	calls bool // one came since rest ran
	left  bool // memory may be left of calls or mirrors that was not given back
}

// setLimit is called once, before the first call of a session. Without it nothing is kept, as in a process whose
// strategy is called at the threshold only.
func (s *mirrors) setLimit(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit, s.held = bytes, map[string]*mirror{}
}

// take hands out a session's mirror, nil if there is none. It is the caller's alone until it is given back: no call
// sees a history that another one is changing. Meanwhile it does not count towards the limit.
func (s *mirrors) take(session string) *mirror {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.called()
	m := s.held[session]
	s.remove(m)
	return m
}

func (s *mirrors) keep(m *mirror) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.called()
	s.remove(s.held[m.session])
	if m.bytes > s.limit || s.held == nil {
		return // it would only push out the others
	}
	m.used = time.Now()
	s.held[m.session] = m
	s.total += m.bytes
	if m.older = s.latest; m.older != nil {
		m.older.newer = m
	} else {
		s.oldest = m
	}
	s.latest = m
	for s.total > s.limit {
		s.remove(s.oldest)
	}
}

// called makes rest run. Callers hold s.mu.
func (s *mirrors) called() {
	s.calls, s.left = true, true
	if s.sweep == nil {
		s.sweep = time.AfterFunc(quietAfter, s.rest)
	}
}

// rest drops what rests, and gives memory back when no call came for a while.
func (s *mirrors) rest() {
	s.mu.Lock()
	for s.oldest != nil && time.Since(s.oldest.used) >= restAfter {
		s.remove(s.oldest)
		s.left = true
	}
	quiet := !s.calls
	back := quiet && s.left
	s.calls, s.left = false, s.left && !back
	if quiet && s.oldest == nil {
		s.sweep = nil
	} else {
		s.sweep.Reset(quietAfter)
	}
	s.mu.Unlock()
	if back {
		debug.FreeOSMemory()
	}
}

// remove accepts nil. Callers hold s.mu.
func (s *mirrors) remove(m *mirror) {
	if m == nil {
		return
	}
	delete(s.held, m.session)
	s.total -= m.bytes
	if m.newer != nil {
		m.newer.older = m.older
	} else {
		s.latest = m.older
	}
	if m.older != nil {
		m.older.newer = m.newer
	} else {
		s.oldest = m.newer
	}
	m.newer, m.older = nil, nil
}
