package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// The modes of the setting plugins.isolation; see package isolate for the measures.
const (
	// IsolationBestEffort takes the measures that this machine can enforce, and lists those that are missing. It is the
	// default.
	IsolationBestEffort = "best-effort"
	// IsolationStrict starts no plugin where a measure is missing.
	IsolationStrict = "strict"
	// IsolationOff takes none.
	IsolationOff = "off"
)

// Sandbox is how a process is isolated. The zero value isolates nothing.
type Sandbox struct {
	// Apply are the measures to take.
	Apply []isolate.Measure
	// Grant is what the plugin gets beyond the usual.
	Grant config.Grant
	// MaxMemory bounds the private memory, in bytes; 0 is no bound.
	MaxMemory int
	// Lacking are the measures that are not taken, each with the reason, for people.
	Lacking []string
}

// launcherTimeout bounds how long a launcher takes to become the plugin.
const launcherTimeout = 5 * time.Second

// NewSandbox decides how the plugin with the name is isolated. checks says what this machine can enforce; it is
// called only where that matters. An error wraps [fault.ErrNotIsolated].
func NewSandbox(set config.Plugins, name string, checks func() []isolate.Check) (Sandbox, error) {
	if set.Isolation == IsolationOff {
		return Sandbox{Lacking: []string{"everything: plugins.isolation is off"}}, nil
	}
	s := Sandbox{Grant: set.Grants[name], MaxMemory: set.MaxMemoryBytes}
	for _, check := range checks() {
		if check.Works {
			s.Apply = append(s.Apply, check.Measure)
			continue
		}
		s.Lacking = append(s.Lacking, fmt.Sprintf("%s: %s", check.Measure, check.How))
	}
	if set.Isolation == IsolationStrict && len(s.Lacking) > 0 {
		return s, fmt.Errorf("%w: %s", fault.ErrNotIsolated, strings.Join(s.Lacking, "; "))
	}
	return s, nil
}

// env are the variables that keep a plugin below its memory limit; only programs made with Go know them.
func (s Sandbox) env() []string {
	if s.MaxMemory == 0 {
		return nil
	}
	return []string{"GOMEMLIMIT=" + strconv.Itoa(s.MaxMemory/10*9)}
}

// launch starts the opened binary by way of a launcher, and waits until the launcher has become it.
func (c *child) launch(stdout, stderr, lifeline *os.File) (*exec.Cmd, error) {
	statusR, statusW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer statusR.Close()
	cmd, err := c.launcher(stdout, stderr, lifeline, statusW)
	if err == nil {
		err = c.starter.start(cmd)
	}
	if err := errors.Join(err, statusW.Close()); err != nil {
		return nil, err
	}
	if err := isolate.Await(statusR, launcherTimeout); err != nil {
		killGroup(cmd.Process)
		_ = cmd.Wait()
		return nil, err
	}
	return cmd, nil
}

// launcher is the command that starts the host's own program as a launcher. It inherits the lifeline, the binary, and
// the pipe to which it writes why it failed.
func (c *child) launcher(stdout, stderr, lifeline, status *os.File) (*exec.Cmd, error) {
	const binaryFD, statusFD = lifelineFD + 1, lifelineFD + 2
	grant := c.sandbox.Grant
	cmd, err := isolate.Command(isolate.Spec{
		Path: fmt.Sprintf("/proc/self/fd/%d", binaryFD), Args: []string{c.binary.Path},
		Binary: binaryFD, KeepBinary: c.binary.Script, Status: statusFD, RunDir: c.dir,
		Network: grant.Network, Processes: grant.Processes, Read: grant.Read,
		MaxMemory: uint64(c.sandbox.MaxMemory), Apply: c.sandbox.Apply,
	})
	if err != nil {
		return nil, err
	}
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.env, c.dir, stdout, stderr // no Stdin: /dev/null
	cmd.ExtraFiles = []*os.File{lifeline, c.binary.File(), status}
	cmd.SysProcAttr = processAttributes()
	return cmd, nil
}
