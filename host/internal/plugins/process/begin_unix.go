//go:build unix

package process

import (
	"os"
	"os/exec"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// temporary are the variables that name the directory for temporary files.
var temporary = []string{"TMPDIR"}

// begin starts the process, isolated as its sandbox says.
func (c *child) begin(stdout, stderr, lifeline *os.File) (*exec.Cmd, error) {
	if len(c.sandbox.Apply) > 0 {
		return c.launch(stdout, stderr, lifeline)
	}
	path, inherit, done, err := c.binary.Executable(c.dir, isolate.LifelineFD+1)
	if err != nil {
		return nil, err
	}
	defer done()
	// No Stdin makes it /dev/null.
	cmd := &exec.Cmd{Path: path, Args: []string{c.binary.Arg0()}, Env: c.env, Dir: c.dir, Stdout: stdout, Stderr: stderr}
	cmd.ExtraFiles = append([]*os.File{lifeline}, inherit...)
	cmd.SysProcAttr = processAttributes(nil)
	return cmd, c.spawner.starter.start(cmd, nil)
}

// launch turns a launcher into the opened binary, and waits for that: a failure to isolate is an error of Start, and
// the plugin's code never runs without the isolation.
func (c *child) launch(stdout, stderr, lifeline *os.File) (*exec.Cmd, error) {
	grant := c.sandbox.Grant
	l, guard, err := c.spawner.launchers.become(isolate.Spec{
		Args: []string{c.binary.Arg0()}, Env: c.env, KeepBinary: c.binary.Script, RunDir: c.dir,
		Network: grant.Network, Processes: grant.Processes, Read: grant.Read,
		MaxMemory: uint64(c.sandbox.MaxMemory), Apply: c.sandbox.Apply,
	}, isolate.Handles{Stdout: stdout, Stderr: stderr, Lifeline: lifeline, Binary: c.binary.File()})
	if err != nil {
		return nil, err
	}
	c.group = l.group
	if guard != nil {
		c.guard = isolate.NewGuard(guard, c.dir, c.condemn)
	}
	return l.cmd, nil
}
