package process

import (
	"os/exec"
	"runtime"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// starter starts all processes from one operating system thread. On Linux, Pdeathsig kills a child when the thread that
// started it ends, not when the host does, and Go ends idle threads at any time.
type starter struct {
	requests chan startRequest
	quit     chan struct{}
	ended    chan struct{}
	watch    watch // kills what is left at the host's end
}

// startRequest asks the thread to start cmd. result has room for one error: the thread never blocks.
type startRequest struct {
	cmd    *exec.Cmd
	group  *isolate.Group // that it is started in; nil for none
	result chan error
}

func newStarter() *starter {
	s := &starter{requests: make(chan startRequest), quit: make(chan struct{}), ended: make(chan struct{})}
	go s.loop()
	return s
}

// loop runs on the locked thread.
func (s *starter) loop() {
	defer close(s.ended)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case r := <-s.requests:
			r.result <- s.watch.start(r.cmd, r.group)
		case <-s.quit:
			return
		}
	}
}

// start is cmd.Start on the starter's thread. After close it returns [fault.ErrClosed].
func (s *starter) start(cmd *exec.Cmd, group *isolate.Group) error {
	r := startRequest{cmd: cmd, group: group, result: make(chan error, 1)}
	select {
	case s.requests <- r:
		return <-r.result
	case <-s.ended:
		return fault.ErrClosed
	}
}

// close ends the thread and the watcher, which on Linux kills every process that still runs. Call it once, after all
// processes have ended.
func (s *starter) close() {
	close(s.quit)
	<-s.ended
	s.watch.close()
}
