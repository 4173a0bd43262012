package plugins

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"github.com/thresh-dev/thresh/internal/wire"
)

// A plugin that somebody started by hand is used as it is, so that a debugger can look at it: nothing verifies, isolates or
// ends it, and calls wait for it for as long as somebody may stand at a breakpoint.

// breakpointTime is how long a call waits for such a plugin.
const breakpointTime = 24 * time.Hour

// attach puts the strategies that were started by hand before the files of their names.
func (c catalog) attach(sockets map[string]string) catalog {
	var first []candidate
	for _, name := range slices.Sorted(maps.Keys(sockets)) {
		first = append(first, candidate{name: name, path: sockets[name], attached: true})
	}
	for i, f := range c.candidates {
		if socket, ok := sockets[f.name]; ok && f.usable() {
			c.candidates[i].shadowedBy = socket + ", which was started by hand"
		}
	}
	c.candidates = append(first, c.candidates...)
	return c
}

// attach connects to a plugin that was started by hand.
func (m *Manager) attach(c candidate, s start) (*process, error) {
	if err := m.prepare(); err != nil {
		return nil, &Error{Plugin: c.name, Path: c.path, Op: OpStart, Err: err, ours: true}
	}
	p := newProcess(m, &binary{candidate: c})
	if _, err := os.Stat(c.path); err != nil {
		return nil, p.notAttached(OpStart, trimExec(err))
	}
	p.log.Warn("using a plugin that was started by hand: it is not verified, not isolated and not supervised, and calls wait for it without end", "socket", c.path)
	opts := m.opts
	opts.StartTimeout, opts.OptimizeTimeout, opts.CompressTimeout = breakpointTime, breakpointTime, breakpointTime
	opts.Isolation = IsolationOff
	p.opts = &opts
	p.lacking = []string{"everything: it was started by hand"}
	p.child = newChild(p.binary, cage{lacking: p.lacking}, p.log, m.starter)
	p.child.settle() // nothing will be started
	p.child.leave = sync.OnceFunc(func() { close(p.child.exited) })
	p.child.state = "the plugin that was started by hand is gone"
	ctx, cancel := withTimeout(m.ctx, opts.StartTimeout)
	defer cancel()
	return p, p.bringUp(ctx, m.run.path, snapshot{}, func(state State) { s.reached(state, nil) })
}

// reattach is how go-plugin is told of a process that it is not to start.
func (c *child) reattach() *plugin.ReattachConfig {
	return &plugin.ReattachConfig{
		Protocol: plugin.ProtocolGRPC, ProtocolVersion: wire.ProtocolVersion, Addr: &net.UnixAddr{Net: "unix", Name: c.path},
		ReattachFunc: func() (runner.AttachedRunner, error) { return c, nil },
	}
}

// leaveWith says that the process is gone once its connection is, which is there now.
func (c *child) leaveWith(conn *grpc.ClientConn) {
	conn.WaitForStateChange(context.Background(), connectivity.Ready) // at the latest when the connection is closed
	c.leave()
}

// notAttached is the error for a plugin that is not there to be attached to.
func (p *process) notAttached(op Op, err error) error {
	failure := p.failure(op, fmt.Errorf("%w: nobody answers at this socket: %w", ErrNotPlugin, err), "start the plugin with --attach, and give the host what it prints; it serves one host")
	failure.ours = true
	return failure
}
