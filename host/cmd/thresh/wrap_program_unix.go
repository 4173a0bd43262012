//go:build unix

package main

import "os/exec"

// separators end the directory in a command's name.
const separators = "/"

// agentCommand returns what starts an agent's program.
func agentCommand(program string, args []string, _ place) (*exec.Cmd, error) {
	return exec.Command(program, args...), nil
}
