//go:build unix && !linux

package plugins

import (
	"os/exec"
	"syscall"
)

// processAttributes puts a plugin into a process group of its own. There is nothing like Pdeathsig here: that a plugin goes
// with the host is up to the lifeline.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// reap waits for the process's end and then kills what is left of its group.
func reap(cmd *exec.Cmd) {
	_ = cmd.Wait() // how it ended is in cmd.ProcessState
	killGroup(cmd.Process)
}
