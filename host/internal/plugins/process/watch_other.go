//go:build !linux && !windows

package process

import (
	"os/exec"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// watch does nothing here: only the lifeline ends a plugin with its host.
type watch struct{}

func (*watch) start(cmd *exec.Cmd, _ *isolate.Group) error { return cmd.Start() }
func (*watch) close()                                      {}
