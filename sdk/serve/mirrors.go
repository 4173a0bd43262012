package serve

import "sync"

// mirrors holds the mirrors of sessions that no call is using, at most limit bytes in all; the least recently used are
// dropped first. It is safe for concurrent use. A call that finds no mirror, because it was dropped or another call of
// the session has it, asks for the whole history.
type mirrors struct {
	mu    sync.Mutex
	limit int // bytes; 0: nothing is kept
	total int
	held  map[string]*mirror // by session
	// A list in the order of use. Package container/list would take half as much code again.
	latest, oldest *mirror
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
	m := s.held[session]
	s.remove(m)
	return m
}

func (s *mirrors) keep(m *mirror) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(s.held[m.session])
	if m.bytes > s.limit || s.held == nil {
		return // it would only push out the others
	}
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
