package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// separators end the directory in a command's name.
const separators = `/\`

// agentCommand returns what starts an agent's program. For a batch file of npm that is what the file starts. Another
// batch file is run by cmd.exe, which gets no argument that it would change.
func agentCommand(program string, args []string, in place) (*exec.Cmd, error) {
	switch strings.ToLower(filepath.Ext(program)) {
	case ".cmd", ".bat":
	default:
		return exec.Command(program, args...), nil
	}
	target, node := shim(program)
	if target == "" {
		for _, a := range args {
			if strings.ContainsAny(a, "%\"\r\n") {
				return nil, fmt.Errorf("%s is a batch file, to which cmd.exe cannot pass the argument %q as it is: "+
					"name the program that it starts instead", program, a)
			}
		}
		return exec.Command(program, args...), nil
	}
	if !node {
		return exec.Command(target, args...), nil
	}
	// As the batch file does: the one next to it, else the one in PATH.
	interpreter := filepath.Join(filepath.Dir(program), "node.exe")
	if _, err := os.Stat(interpreter); err != nil {
		if interpreter, err = in.lookPath("node"); err != nil {
			return nil, fmt.Errorf("%s is started by Node.js: %w", program, err)
		}
	}
	return exec.Command(interpreter, append([]string{target}, args...)...), nil
}
