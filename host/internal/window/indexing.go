package window

// indexLater catches the session's index up after a turn that removed something, if much was added since. A search that
// comes earlier does it itself.
func (s *Session) indexLater() {
	if !s.IndexDue() {
		return
	}
	s.host.later(func() {
		if err := s.Journal.Index(s.taxonomyNow()); err != nil {
			s.host.log.Warn("what was removed is not indexed yet; a search will do it", "session", s.key.ID, "error", err)
		}
	})
}

// later runs f in the background, unless the host is closed. Close waits for it.
func (h *Host) later(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.background.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				_ = h.Panicked("index", p)
			}
		}()
		f()
	})
}
