//go:build unix

package process

import (
	"os"
	"syscall"
)

// signalGroup sends a signal to the process and to all that it started and that stayed in its group.
func signalGroup(p *os.Process, s syscall.Signal) error { return syscall.Kill(-p.Pid, s) }

// killGroup sends SIGKILL. An error means that there is nothing left to kill.
func killGroup(p *os.Process) { _ = signalGroup(p, syscall.SIGKILL) }
