package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

func processAttributes(a *syscall.SysProcAttr) *syscall.SysProcAttr { return a }

// reap waits for the process to end. What is left of its job ends with the job.
func reap(cmd *exec.Cmd) { _ = cmd.Wait() } // how it ended is in cmd.ProcessState

// signal stands for signals, which Windows does not have. The end of the lifeline asks a process to end, as SIGTERM
// does. An interrupt cannot reach one without a console.
func (c *child) signal(s syscall.Signal) error {
	switch s {
	case syscall.SIGTERM:
		return c.lifeline.Close()
	case syscall.SIGINT:
		return nil
	}
	return errors.ErrUnsupported
}

// killedBySIGKILL is always false: the exit status does not tell who ended a process.
func killedBySIGKILL(*os.ProcessState) bool { return false }

// killGroup ends the process; its job, which the caller ends, has what the process started.
func killGroup(p *os.Process) { _ = p.Kill() }
