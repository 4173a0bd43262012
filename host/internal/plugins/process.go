package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	osprocess "github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk/contract"
)

const (
	// crashTime is how long to wait, after a connection broke, for the process to be reaped and its output to be read.
	crashTime = 500 * time.Millisecond
	// probeTimeout bounds the probe of a plugin that let a call time out.
	probeTimeout = 2 * time.Second
	// maxMisses is how many calls in a row a plugin may let time out, though it answers probes.
	maxMisses = 3
)

// errNotNeeded is why a process is ended that was started only to be asked what it is.
var errNotNeeded = errors.New("no longer needed")

// process is one running, described and configured plugin. It never changes; when it has ended, another takes its place.
type process struct {
	binary *discover.Binary
	proc   *osprocess.Process // nil: it did not start
	log    hclog.Logger
	opts   *Options

	info    contract.Info
	record  json.RawMessage   // info, written down
	sandbox osprocess.Sandbox // how it is isolated
	config  contract.Config   // the strategy's settings, with defaults filled in

	strategy threshv1.StrategyServiceClient
	services *hostServices
	server   *grpc.Server // serves services; nil before Configure

	lastCall atomic.Uint64
	users    atomic.Int64          // how many acquired it and have not released it
	retired  atomic.Pointer[error] // why it takes no new calls
	misses   atomic.Int64          // calls in a row that timed out
	tell     func(State, string)
	gone     chan struct{}       // closed when nothing of it is left
	spawn    func(f func()) bool // runs f in a goroutine that the manager waits for
	ctx      context.Context     // ends with the process; its cause says why
	end      context.CancelCauseFunc
}

// alive reports whether the process can be called.
func (p *process) alive() bool { return p.ctx.Err() == nil && !p.proc.Gone(0) }

// snapshot is what the binary turned out to be.
func (p *process) snapshot() trust.Snapshot { return trust.Snapshot{Sum: p.binary.Sum, Info: p.record} }

func (p *process) failure(op Op, err error, hint string) *Error {
	return p.binary.Failure(op, err, hint)
}

// wait waits until the process has ended or is to end. The cause of p.ctx says which.
func (p *process) wait() {
	select {
	case <-p.proc.Exited():
		p.end(p.crashed())
	case <-p.ctx.Done():
	}
}

// crashed is the error for a process that ended by itself.
func (p *process) crashed() error {
	if p.proc.KilledByOthers() {
		return fmt.Errorf("%w: %s: killed (SIGKILL), possibly by the OOM killer", ErrPluginCrashed, p.proc.ExitState())
	}
	return fmt.Errorf("%w: %s", ErrPluginCrashed, p.proc.ExitState())
}

// destroy ends the process and removes what it leaves, in bounded time. Calls that are going on fail.
func (p *process) destroy(grace time.Duration) {
	if p.server != nil {
		p.server.Stop()
	}
	p.proc.Close(grace)
}

// probe ends the process if it does not answer at all. After a call that timed out it may be busy, which is its own affair, or
// stopped, and then every later call would wait in vain.
func (p *process) probe() {
	p.tell(StateSuspect, "a call timed out")
	ctx, cancel := context.WithTimeout(p.ctx, probeTimeout)
	defer cancel()
	_, err := p.strategy.GetInfo(ctx, &threshv1.GetInfoRequest{HostVersion: p.opts.HostVersion})
	switch {
	case p.ctx.Err() != nil:
	case err != nil:
		p.end(fmt.Errorf("%w: it stopped answering and was killed (%s)", ErrPluginCrashed, message(err)))
	case p.misses.Load() >= maxMisses:
		p.end(fmt.Errorf("%w: %d calls in a row timed out and it was killed", ErrPluginCrashed, maxMisses))
	default:
		p.tell(StateReady, "")
	}
}
