package plugins

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// Isolation says what plugins are kept from; see package isolate for the measures.
type Isolation string

// The modes.
const (
	// IsolationBestEffort takes the measures that this machine can enforce, and lists what is lacking. It is the default.
	IsolationBestEffort Isolation = "best-effort"
	// IsolationStrict starts no plugin where a measure is lacking.
	IsolationStrict Isolation = "strict"
	// IsolationOff takes none.
	IsolationOff Isolation = "off"
)

// Grant is what a plugin gets beyond the usual.
type Grant struct {
	// Network lets it use the network.
	Network bool
	// Processes lets it start other processes.
	Processes bool
	// Read are absolute paths of files and directories that it may read and run programs from. Each must be there.
	Read []string
}

// cage is how a process is isolated.
type cage struct {
	apply     []isolate.Measure
	grant     Grant
	maxMemory int
	// lacking are the measures that are not taken, with the reason.
	lacking []string
}

// launchTime bounds how long a launcher takes to become the plugin.
const launchTime = 5 * time.Second

// cageFor decides how the plugin with the name is isolated.
func (m *Manager) cageFor(name string) (cage, error) {
	if m.opts.Isolation == IsolationOff {
		return cage{lacking: []string{"everything: plugins.isolation is off"}}, nil
	}
	c := cage{grant: m.opts.Grants[name], maxMemory: m.opts.MaxMemoryBytes}
	for _, check := range m.checks() {
		if check.Works {
			c.apply = append(c.apply, check.Measure)
			continue
		}
		c.lacking = append(c.lacking, fmt.Sprintf("%s: %s", check.Measure, check.How))
	}
	if m.opts.Isolation == IsolationStrict && len(c.lacking) > 0 {
		return c, fmt.Errorf("%w: %s", ErrNotIsolated, strings.Join(c.lacking, "; "))
	}
	return c, nil
}

// env are the variables that keep a plugin below its memory limit; only programs made with Go know them.
func (c cage) env() []string {
	if c.maxMemory == 0 {
		return nil
	}
	return []string{"GOMEMLIMIT=" + strconv.Itoa(c.maxMemory/10*9)}
}

// launch starts the opened binary by way of a launcher, and waits until that has become it.
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
	if err := isolate.Await(statusR, launchTime); err != nil {
		killGroup(cmd.Process)
		_ = cmd.Wait()
		return nil, err
	}
	return cmd, nil
}

func (c *child) launcher(stdout, stderr, lifeline, status *os.File) (*exec.Cmd, error) {
	const binaryFD, statusFD = lifelineFD + 1, lifelineFD + 2
	cmd, err := isolate.Command(isolate.Spec{
		Path: fmt.Sprintf("/proc/self/fd/%d", binaryFD), Args: []string{c.path},
		Binary: binaryFD, KeepBinary: c.binary.script, Status: statusFD, RunDir: c.dir,
		Network: c.cage.grant.Network, Processes: c.cage.grant.Processes, Read: c.cage.grant.Read,
		MaxMemory: uint64(c.cage.maxMemory), Apply: c.cage.apply,
	})
	if err != nil {
		return nil, err
	}
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.env, c.dir, stdout, stderr // no Stdin: /dev/null
	cmd.ExtraFiles = []*os.File{lifeline, c.binary.file, status}
	cmd.SysProcAttr = processAttributes()
	return cmd, nil
}
