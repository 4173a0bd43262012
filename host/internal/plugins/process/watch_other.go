//go:build !linux

package process

import "os/exec"

// watch does nothing here: only the lifeline ends a plugin with its host.
type watch struct{}

func (*watch) start(cmd *exec.Cmd) error { return cmd.Start() }
func (*watch) close()                    {}
