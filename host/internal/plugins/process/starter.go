package process

import (
	"os/exec"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// starter starts all processes, one after the other, and has them watched.
type starter struct {
	mu     sync.Mutex
	closed bool
	watch  watch // kills what is left at the host's end
}

// start is cmd.Start in a control group (nil: the host's). After close it returns [fault.ErrClosed].
func (s *starter) start(cmd *exec.Cmd, group *isolate.Group) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fault.ErrClosed
	}
	return s.watch.start(cmd, group)
}

// close ends the watcher, which on Linux kills every process that still runs. Call it after all processes have ended.
func (s *starter) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.watch.close()
}
