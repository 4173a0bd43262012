//go:build unix

package process

import (
	"errors"
	"os"
	"syscall"
)

// reaped reports whether a process was waited for. Its group is not to be signalled then: whatever has the number now is
// another one.
func reaped(p *os.Process) bool { return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) }

// signalGroup signals the process and what it started in its group. A process that is not isolated may have left its
// group; it gets the signal all the same.
func signalGroup(p *os.Process, s syscall.Signal) error {
	if reaped(p) {
		return os.ErrProcessDone
	}
	if err := syscall.Kill(-p.Pid, s); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return p.Signal(s)
}

// signal sends s to the process group.
func (c *child) signal(s syscall.Signal) error { return signalGroup(c.cmd.Process, s) }

func killedBySIGKILL(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// killGroup sends SIGKILL to the group, and to the process itself wherever it is. Errors mean that there is nothing
// left to kill.
func killGroup(p *os.Process) {
	if reaped(p) {
		return
	}
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill() // by its pidfd where there are any
}
