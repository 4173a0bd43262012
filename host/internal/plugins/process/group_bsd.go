//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// processAttributes puts a plugin into its own process group.
func processAttributes(*syscall.SysProcAttr) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// reap waits for the process to end and then kills what is left of its group.
func reap(cmd *exec.Cmd) {
	_ = cmd.Wait() // how it ended is in cmd.ProcessState
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
