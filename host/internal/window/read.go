package window

// Bytes is about how much memory the session's history takes.
func (s *Session) Bytes() int { return s.history.Bytes() }
