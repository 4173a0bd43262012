package proxy

import "time"

// SetIdle sets how long an answer may stall. It is called before the first request.
func (s *Server) SetIdle(d time.Duration) { s.idle = d }
