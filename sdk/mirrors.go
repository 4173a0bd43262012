package sdk

import "sync"

// mirrors holds the mirrors of sessions that no call is using at the moment. Together they take at most limit bytes;
// the least recently used go first. It is safe for concurrent use.
//
// A mirror is a cache. A call that finds none, because it was dropped or because another call of the session has it, is
// answered by asking for the whole history.
type mirrors struct {
	mu    sync.Mutex
	limit int // bytes; 0: nothing is kept
	total int
	held  map[string]*mirror // by session
	// A list in the order of use. It is written out: package container/list would be half as large again as this file.
	latest, oldest *mirror
}

// setLimit says how many bytes the mirrors may take. It is called once, before the first call of a session: without it
// nothing is kept, as in a process whose strategy is called at the threshold only.
func (s *mirrors) setLimit(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit, s.held = bytes, map[string]*mirror{}
}

// take hands out a session's mirror; nil if there is none. It is the caller's alone until it gives it back, so that no
// call ever sees a history that another one is changing. While it is out it does not count towards the limit.
func (s *mirrors) take(session string) *mirror {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.held[session]
	s.remove(m)
	return m
}

// keep takes a mirror back, or a new one. It replaces any that the session has.
func (s *mirrors) keep(m *mirror) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(s.held[m.session])
	if m.bytes > s.limit || s.held == nil {
		return // it would only push out the others; without a limit nothing is held, an empty history neither
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

// remove takes a mirror out of the table; nil is none. Callers hold s.mu.
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
