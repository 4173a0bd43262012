package process

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// processAttributes adds to a, which may be nil. A plugin in its own process group gets no signals from the host's
// terminal and can be ended together with what it started.
func processAttributes(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	if a == nil {
		a = &syscall.SysProcAttr{}
	}
	a.Setpgid = true
	return a
}

// reap waits for the process to end and then kills what is left of its group, before the process id is given back to
// the system: afterwards the group's number could belong to other processes.
func reap(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break // an error leaves it to Wait
		}
	}
	killGroup(cmd.Process)
	_ = cmd.Wait() // how it ended is in cmd.ProcessState
}
