package process

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/internal/wire"
)

// temporary are the variables that name the directory for temporary files.
var temporary = []string{"TMP", "TEMP", "TMPDIR"}

// begin starts the process suspended and puts it into a job of its own before its first instruction: nothing that it
// starts is outside. It has no console, and so gets no interrupt of the host's.
func (c *child) begin(stdout, stderr, lifeline *os.File) (*exec.Cmd, error) {
	path, _, done, err := c.binary.Executable(c.dir, 0)
	if err != nil {
		return nil, err
	}
	defer done()
	// Inherited only by a process whose list has it, as all that Go starts have one.
	alive := windows.Handle(lifeline.Fd())
	if err := windows.SetHandleInformation(alive, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
		return nil, fmt.Errorf("passing on the lifeline: %w", err)
	}
	job, err := isolate.NewGroup(isolate.Job{
		One:    slices.Contains(c.sandbox.Apply, isolate.Processes) && !c.sandbox.Grant.Processes,
		Memory: c.memory(),
	})
	if err != nil {
		return nil, fmt.Errorf("making a job object for it: %w", err)
	}
	// No Stdin makes it NUL. The last value of a variable counts.
	env := append(slices.Clone(c.env), wire.EnvLifeline+"="+strconv.FormatUint(uint64(alive), 10))
	cmd := &exec.Cmd{Path: path, Args: []string{c.binary.Arg0()}, Env: env, Dir: c.dir, Stdout: stdout, Stderr: stderr}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags:              windows.CREATE_SUSPENDED | windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP,
		AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(alive)},
	}
	if err := c.spawner.starter.start(cmd, job); err != nil {
		_ = job.Remove()
		return nil, err
	}
	c.group = job
	return cmd, nil
}

// memory is what the process may commit, in bytes; 0 is no limit.
func (c *child) memory() int {
	if !slices.Contains(c.sandbox.Apply, isolate.Memory) {
		return 0
	}
	return c.sandbox.MaxMemory
}
