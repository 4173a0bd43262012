package process

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/host/internal/plugins/rundir"
)

// socketSuffix is the longest path below a run directory: go-plugin's directory, where isolated plugins find the host's
// files, and a socket.
const socketSuffix = "/plugin-dir4294967295/" + isolate.HostDir + "/plugin4294967295"

// Spawner starts processes. It owns what they share: a run directory, and the watcher. It is safe for concurrent
// use. Close it when every process has ended.
type Spawner struct {
	base      string // of run directories
	starter   *starter
	launchers *launchers

	mu sync.Mutex
	// runs are the run directories, the one in use last. Others are gone, but processes may still have sockets there,
	// and something may be left of them.
	runs []*rundir.Dir
}

// NewSpawner makes a private run directory below base; "" is the system's temporary directory. base must be a short
// path, because sockets are made in it.
func NewSpawner(base string) (*Spawner, error) {
	if err := descriptorsFree(); err != nil {
		return nil, err // a directory that is half made could not be removed either
	}
	run, err := newRunDir(base)
	if err != nil {
		return nil, err
	}
	starter := new(starter)
	groups, _ := isolate.OpenGroups() // most machines have none for us; isolate.Probe says why
	return &Spawner{
		base: base, runs: []*rundir.Dir{run}, starter: starter, launchers: &launchers{starter: starter, groups: groups},
	}, nil
}

// newRunDir makes the directory in which each process gets one for its sockets, working directory and temporary files.
// It refuses a base too long for socket paths: sockets would fail much later with an unclear error.
func newRunDir(base string) (*rundir.Dir, error) {
	base, err := filepath.Abs(cmp.Or(base, os.TempDir()))
	if err != nil {
		return nil, err
	}
	if n := len(base) + len("/") + rundir.NameLen + len(socketSuffix); n > maxSocketPath {
		return nil, fmt.Errorf("the temporary directory %s is too long a path for sockets: %d bytes, at most %d fit; "+
			"set TMPDIR to a shorter one", base, len(base), len(base)-(n-maxSocketPath))
	}
	return rundir.New(base)
}

// ready checks that the host has what a start needs, and replaces a run directory that is gone.
func (s *Spawner) ready() (dir string, err error) {
	if err := descriptorsFree(); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	run := s.runs[len(s.runs)-1]
	if run.Gone() {
		if run, err = newRunDir(s.base); err != nil {
			return "", err
		}
		s.runs = append(s.runs, run)
	}
	return run.Path, nil
}

// Prepare makes the next start faster, if one was isolated before. It returns at once. Call it when a plugin is ready,
// which would have to share the processor with it.
func (s *Spawner) Prepare() { s.launchers.prepare() }

// Close removes the run directory. A start after it fails.
func (s *Spawner) Close() error {
	s.launchers.close()
	s.starter.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, run := range s.runs {
		errs = append(errs, run.Remove())
	}
	return errors.Join(errs...)
}

type Spec struct {
	// Binary is the open file to run, or the socket of a process that a developer started by hand.
	Binary *discover.Binary
	// Sandbox is how the process is isolated; zero: not at all.
	Sandbox Sandbox
	// StartTimeout is for error messages; Start's context carries the deadline.
	StartTimeout time.Duration
	// Log receives what happens to the process and what it prints.
	Log hclog.Logger
}
