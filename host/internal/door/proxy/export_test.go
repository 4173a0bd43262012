package proxy

import (
	"context"
	"time"
)

// SetIdle sets how long an answer may stall. It is called before the first request.
func (s *Server) SetIdle(d time.Duration) { s.idle = d }

// SetReadIdle sets how long a client may send nothing of its body. It is called before the first request.
func (s *Server) SetReadIdle(d time.Duration) { s.options.Guard.Patience.Idle = d }

// SetPatience sets how long a request may wait for memory. It is called before the first request.
func (s *Server) SetPatience(d time.Duration) { s.memoryWait = d }

// TakeRoom is a turn that takes all memory for turns, until leave.
func (s *Server) TakeRoom() (leave func()) {
	_ = s.working.bytes.Acquire(context.Background(), s.working.most)
	return func() { s.working.bytes.Release(s.working.most) }
}
