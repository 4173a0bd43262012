package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk/contract"
)

const (
	// goPluginTime is how long go-plugin may take to tidy up after a process that is gone.
	goPluginTime = time.Second
	// crashTime is how long to wait, after a connection broke, for the process to be reaped and its last words to be read.
	crashTime = 500 * time.Millisecond
	// probeTime is what a plugin that let a call time out gets to show that it still answers at all.
	probeTime = 2 * time.Second
	// maxMisses is how many calls in a row a plugin may let time out, though it answers otherwise.
	maxMisses = 3
)

// errNotNeeded is why a process is ended that was only started to be asked what it is.
var errNotNeeded = errors.New("nobody needs it any more")

// process is one running, described and configured plugin. It never changes; when it has ended, another takes its place.
type process struct {
	name, path string
	log        hclog.Logger
	opts       *Options
	binary     *binary
	info       contract.Info
	record     json.RawMessage     // info, written down
	lacking    []string            // the means of isolation that it runs without
	config     contract.Config     // the strategy's settings, with defaults filled in
	goes       func(f func()) bool // runs f in a goroutine that the manager waits for

	child    *child
	client   *plugin.Client
	strategy threshv1.StrategyServiceClient
	services *hostServices
	server   *grpc.Server // serves services; nil before Configure

	lastCall atomic.Uint64
	users    atomic.Int64          // who acquired it and has not released it
	retired  atomic.Pointer[error] // why it takes no new calls
	misses   atomic.Int64          // calls in a row that timed out
	tell     func(State, string)
	gone     chan struct{}   // closed when nothing of it is left
	ctx      context.Context // ends with the process; its cause says why
	end      context.CancelCauseFunc
}

// alive reports whether the process can be called.
func (p *process) alive() bool { return p.ctx.Err() == nil && !p.child.gone(0) }

// snapshot is what the binary turned out to be.
func (p *process) snapshot() snapshot { return snapshot{sum: p.binary.sum, info: p.record} }

// wait waits until the process has ended or is to end. The cause of p.ctx says which.
func (p *process) wait() {
	select {
	case <-p.child.exited:
		p.end(fmt.Errorf("%w: %s", ErrPluginCrashed, p.child.state))
	case <-p.ctx.Done():
	}
}

// destroy ends the process and removes what it leaves, in bounded time. Calls that are going on fail.
func (p *process) destroy(grace time.Duration) {
	if p.server != nil {
		p.server.Stop()
	}
	if err := p.child.terminate(grace); err != nil {
		p.log.Error("ending the plugin", "error", err)
	}
	// Kill ends go-plugin's goroutines; the process is gone already. It has no deadline, so it does not get this goroutine.
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		p.client.Kill()
	}()
	select {
	case <-killed:
	case <-time.After(goPluginTime):
		p.log.Warn("go-plugin still waits for something of the plugin")
	}
	if dir := p.child.dir; dir != "" {
		if err := os.RemoveAll(dir); err != nil {
			p.log.Warn("removing the plugin's run directory", "error", err)
		}
	}
	p.log.Debug("the plugin has ended", "state", p.child.state)
}

// probe ends the process if it does not answer at all. After a call that timed out it may be busy, which is its own affair, or
// stopped, and then every later call would wait in vain.
func (p *process) probe() {
	p.tell(StateSuspect, "a call was not answered")
	ctx, cancel := context.WithTimeout(p.ctx, probeTime)
	defer cancel()
	_, err := p.strategy.GetInfo(ctx, &threshv1.GetInfoRequest{HostVersion: p.opts.HostVersion})
	switch {
	case p.ctx.Err() != nil:
	case err != nil:
		p.end(fmt.Errorf("%w: it stopped answering and was ended (%s)", ErrPluginCrashed, message(err)))
	case p.misses.Load() >= maxMisses:
		p.end(fmt.Errorf("%w: it let %d calls in a row time out and was ended", ErrPluginCrashed, maxMisses))
	default:
		p.tell(StateReady, "")
	}
}
