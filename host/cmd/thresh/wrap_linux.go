package main

import (
	"os/exec"
	"syscall"
)

// endWithThis makes an agent that is not started yet end when this process does, however it ends: the agent has no way
// to its provider any more, and would share the terminal with the shell. It gets SIGTERM when the thread that starts it
// is gone.
func endWithThis(agent *exec.Cmd) {
	agent.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}

func endStarted(*exec.Cmd) {}
