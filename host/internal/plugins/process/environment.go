package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// A start that fails because the host's machine lacks something looks like a faulty plugin: its socket is missing, it
// exits, a connection times out. This file tells the two apart by checking what a start needs before it, and again
// after it failed. Only Go's runtime is believed about a shortage, not the plugin.

// startDescriptors is how many descriptors must be free for a start: pipes, the launcher, /dev/null, the connection and
// the one that the plugin opens to the host are about twelve.
const startDescriptors = 16

func descriptorsFree() error {
	var files []*os.File
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	for len(files) < startDescriptors {
		r, w, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("%w: a start needs %d more open files: %w", fault.ErrHost, startDescriptors,
				fault.System(err))
		}
		files = append(files, r, w)
	}
	return nil
}

// takesFiles returns an error if no file can be made in a directory: it is gone, or there is no inode left.
func takesFiles(dir string) error {
	f, err := os.CreateTemp(dir, "probe")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return fmt.Errorf("%w: no file can be made in the run directory %s: %w", fault.ErrHost, dir, fault.System(err))
	}
	return nil
}

// Lacking returns a [fault.ErrHost] if the host's environment is to blame for err, with which the start or the setup
// failed; else nil. err may be nil for a timeout.
func (p *Process) Lacking(err error) error {
	c := p.child
	launcher := (*isolate.Failure)(nil)
	switch {
	case p.spec.Binary.Attached, errors.Is(err, context.Canceled), errors.Is(err, fault.ErrClosed):
		return nil
	case fault.IsHost(err):
		return err
	case errors.As(err, &launcher) && !launcher.IsSetup():
		return nil // the program itself cannot be run
	case c.dir == "" && err != nil:
		return fmt.Errorf("%w: making a run directory for it: %w", fault.ErrHost, err)
	case errors.Is(err, isolate.ErrLauncher):
		return fmt.Errorf("%w: %w", fault.ErrHost, err)
	case outOfThreads(c.stderr.String()):
		return fmt.Errorf("%w: it was refused a thread", fault.ErrHost)
	}
	// Without a sign in the error, a lasting shortage shows on the machine.
	if err := descriptorsFree(); err != nil || c.dir == "" {
		return err
	}
	return takesFiles(c.dir)
}

// outOfThreads reports whether Go's runtime ended a program because the system refused it a thread. With about as many
// as isolation allows, it is the program's own fault. A plugin that only claims this gains nothing but another start at
// each call.
func outOfThreads(stderr string) bool {
	_, rest, found := strings.Cut(stderr, "runtime: failed to create new OS thread (have ")
	have, rest, _ := strings.Cut(rest, " already; ")
	n, err := strconv.Atoi(have)
	return found && err == nil && n < isolate.MaxThreads/2 && strings.HasPrefix(rest, "errno=11")
}
