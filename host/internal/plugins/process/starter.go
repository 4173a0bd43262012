package plugins

import (
	"os/exec"
	"runtime"
)

// starter starts processes, all from one thread of the operating system that lives as long as the starter: on Linux a child
// is killed when the thread that started it ends (Pdeathsig), not when the host does, and Go ends threads as it likes.
type starter struct {
	requests chan startRequest
	quit     chan struct{} // closed: the thread is to end
	ended    chan struct{} // closed: it has
}

type startRequest struct {
	cmd    *exec.Cmd
	result chan error
}

func newStarter() *starter {
	s := &starter{requests: make(chan startRequest), quit: make(chan struct{}), ended: make(chan struct{})}
	go s.loop()
	return s
}

func (s *starter) loop() {
	defer close(s.ended)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case r := <-s.requests:
			r.result <- r.cmd.Start()
		case <-s.quit:
			return
		}
	}
}

func (s *starter) start(cmd *exec.Cmd) error {
	r := startRequest{cmd: cmd, result: make(chan error, 1)}
	select {
	case s.requests <- r:
		return <-r.result
	case <-s.ended:
		return ErrClosed
	}
}

// close ends the thread. Every process must have ended before; a start after it fails.
func (s *starter) close() {
	close(s.quit)
	<-s.ended
}
