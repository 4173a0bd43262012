package process

import (
	"errors"
	"os/exec"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// watch has nothing to do: the system ends a job with the last handle to it, and so with the host.
type watch struct{}

// start starts cmd, which must be suspended, in its job.
func (*watch) start(cmd *exec.Cmd, job *isolate.Group) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := job.Take(cmd.Process); err != nil {
		return errors.Join(err, cmd.Process.Kill(), waited(cmd))
	}
	return nil
}

// waited reaps a process that was killed, whose status says nothing new.
func waited(cmd *exec.Cmd) error {
	_ = cmd.Wait()
	return nil
}

func (*watch) close() {}
