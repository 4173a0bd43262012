package process

import (
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
)

// Spawner starts processes. It owns what they share: a run directory, and the thread from which all are started. It
// is safe for concurrent use. Close it when every process has ended.
type Spawner struct {
	run     *runDir
	starter *starter
}

// NewSpawner makes a spawner with a private run directory below base; "" is the system's temporary directory. base
// must be a short path, since sockets are made in it.
func NewSpawner(base string) (*Spawner, error) {
	run, err := newRunDir(base)
	if err != nil {
		return nil, err
	}
	return &Spawner{run: run, starter: newStarter()}, nil
}

// Close removes the run directory. A start after it fails.
func (s *Spawner) Close() error {
	s.starter.close()
	return s.run.remove()
}

// Spec says what to start and how.
type Spec struct {
	// Binary is the open file to run, or the socket of a process that a developer started by hand.
	Binary *discover.Binary
	// Sandbox is how the process is isolated. The zero value is: not at all.
	Sandbox Sandbox
	// StartTimeout is the start timeout in force, for error messages. The context that Start gets carries the deadline.
	StartTimeout time.Duration
	// Log receives what happens to the process and what it prints.
	Log hclog.Logger
}
