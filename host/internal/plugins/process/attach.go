package process

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/internal/wire"
)

// A developer started the attached process, usually under a debugger. The host does not verify, isolate or supervise
// it, and never kills it. Its end shows only in its connection.

func (s Spec) CheckSocket() error {
	if _, err := os.Stat(s.Binary.Path); err != nil {
		return s.NotAttached(fault.OpStart, fault.System(err))
	}
	return nil
}

// NotAttached returns the error for an attached process that does not answer. It blames no plugin.
func (s Spec) NotAttached(op fault.Op, err error) *fault.Error {
	return s.Binary.Failure(op, fmt.Errorf("%w: no process answers at this socket: %w", fault.ErrNotPlugin, err),
		"start the plugin with --attach, and give the host what it prints; it serves one host")
}

// attach prepares the child for a process that the host does not start: Start will never be called.
func (c *child) attach() {
	c.attempt.settle()
	c.exit.leave = sync.OnceFunc(func() { close(c.exit.done) })
	c.exit.state = "the attached process is gone"
}

// reattach has go-plugin connect to the process, and returns how each side proves itself, if it has to.
func (c *child) reattach() (to *plugin.ReattachConfig, proof *tls.Config) {
	var addr net.Addr = &net.UnixAddr{Net: "unix", Name: c.binary.Path}
	var err error
	if loopback {
		var address string
		if address, proof, err = wire.ReadLoopback(c.binary.Path); err == nil {
			addr, err = net.ResolveTCPAddr("tcp", address)
		}
	}
	return &plugin.ReattachConfig{
		Protocol: plugin.ProtocolGRPC, ProtocolVersion: wire.ProtocolVersion, Addr: addr,
		ReattachFunc: func() (runner.AttachedRunner, error) { return c, err },
	}, proof
}

// leaveRunning keeps go-plugin from shutting an attached process down when it closes the connection. One with the SDK
// for Go ends by itself when its host is gone.
func leaveRunning(
	ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption,
) error {
	if method == "/plugin.GRPCController/Shutdown" {
		return nil
	}
	return invoke(ctx, method, req, reply, cc, opts...)
}

// ConnectionIsUp records that a call was answered. From then on an attached process counts as ended when its connection
// breaks: it is not a child, so the host has no other way to notice.
func (p *Process) ConnectionIsUp() {
	if p.spec.Binary.Attached {
		p.watched = true
		go p.child.leaveWith(p.conn.conn)
	}
}

func (c *child) leaveWith(conn *grpc.ClientConn) {
	// It also returns when the connection is closed.
	conn.WaitForStateChange(context.Background(), connectivity.Ready)
	c.exit.leave()
}
