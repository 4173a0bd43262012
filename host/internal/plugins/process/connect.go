package process

import (
	"context"
	"errors"
	"net"
	"os/exec"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/thresh-dev/thresh/internal/wire"
)

// MaxReceive is the largest single message that the host accepts from a plugin, in bytes.
const MaxReceive = wire.MaxGRPCMessage

// connection is what go-plugin dispenses. It hands out the gRPC connection itself: package client makes the protocol's
// clients, and go-plugin's types stay out of the host.
type connection struct {
	plugin.NetRPCUnsupportedPlugin
	conn   *grpc.ClientConn
	broker *plugin.GRPCBroker
}

var _ plugin.GRPCPlugin = (*connection)(nil)

// GRPCServer is never called: package sdk implements the plugin's side.
func (*connection) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("this is the host's side")
}

func (*connection) GRPCClient(_ context.Context, broker *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return &connection{conn: conn, broker: broker}, nil
}

// Start starts a process and completes go-plugin's handshake, or connects to an attached one. ctx bounds both; if its
// cause is [fault.ErrTimeout], the error says that the start timeout passed. On failure nothing of the process is left,
// and the error is a [*fault.Error].
func (s *Spawner) Start(ctx context.Context, spec Spec) (*Process, error) {
	p := &Process{spec: spec, child: newChild(spec.Binary, spec.Sandbox, spec.Log, s)}
	if spec.Binary.Attached {
		p.child.attach()
	}
	dir, err := s.ready()
	if err != nil {
		return nil, spec.Binary.NotStarted(err, "")
	}
	if err := p.connect(ctx, dir); err != nil {
		p.Close(0)
		return nil, p.AddStderr(err) // all of it, now that the process is gone
	}
	return p, nil
}

// connect bounds the wait for go-plugin, which opens streams without a deadline, by running it on another goroutine.
func (p *Process) connect(ctx context.Context, runDir string) error {
	log := lineLogger{log: p.child.log.Named("stdio"), quota: p.child.quota}
	p.printed.lineLogger = log
	settings := &plugin.ClientConfig{
		HandshakeConfig:  wire.Handshake(),
		Plugins:          plugin.PluginSet{wire.PluginName: &connection{}},
		SkipHostEnv:      true,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         loopback && !p.spec.Binary.Attached,
		// go-plugin's own timeout would kill the process and lose the reason.
		StartTimeout:     2 * p.spec.StartTimeout, // ctx ends first
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: runDir},
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxReceive)),
			grpc.WithStaticStreamWindowSize(wire.Window), grpc.WithStaticConnWindowSize(wire.Window),
			grpc.WithWriteBufferSize(wire.Buffer),
			grpc.WithStreamInterceptor(boundBroker),
		},
		Logger:     hclog.NewNullLogger(), // this package logs what matters, with the plugin's name and process id
		SyncStdout: &p.printed,
		SyncStderr: &stdioLogger{lineLogger: log},
	}
	if p.spec.Binary.Attached {
		settings.Reattach, settings.TLSConfig = p.child.reattach()
		settings.GRPCDialOptions = append(settings.GRPCDialOptions, grpc.WithUnaryInterceptor(leaveRunning))
	} else {
		settings.RunnerFunc = func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
			p.child.prepare(cmd.Env, dir)
			return p.child, nil
		}
	}
	p.client = plugin.NewClient(settings)
	type result struct {
		conn *connection
		err  error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		rpc, err := p.client.Client()
		p.child.attempt.settle() // if the process was not started by now, it never will be
		if err == nil {
			var raw any
			raw, err = rpc.Dispense(wire.PluginName)
			r.conn, _ = raw.(*connection)
		}
		r.err = err
		done <- r
	}()
	// A result after ctx is dropped: Close ends what go-plugin has opened.
	select {
	case r := <-done:
		if r.err != nil {
			return p.startFailed(ctx, r.err)
		}
		p.conn, p.tls = r.conn, settings.TLSConfig
		return nil
	case <-ctx.Done():
		return p.startFailed(ctx, nil)
	}
}

// Credentials are how the host proves itself to the plugin where that connects to it, and the plugin to the host; nil on
// systems where no other user can connect.
func (p *Process) Credentials() credentials.TransportCredentials {
	if p.tls == nil {
		return nil
	}
	return credentials.NewTLS(p.tls)
}

// Accept listens for connections of the plugin on go-plugin's broker, under the returned id. ctx bounds the wait for
// the broker's stream, which a plugin may never open.
func (p *Process) Accept(ctx context.Context) (uint32, net.Listener, error) {
	type result struct {
		listener net.Listener
		err      error
	}
	id := p.conn.broker.NextId()
	done := make(chan result, 1)
	go func() {
		l, err := p.conn.broker.Accept(id)
		done <- result{l, err}
	}()
	select {
	case r := <-done:
		return id, r.listener, r.err
	case <-ctx.Done():
		go func() { // ends when Close closes the broker
			if r := <-done; r.listener != nil {
				_ = r.listener.Close()
			}
		}()
		return 0, nil, ctx.Err()
	}
}
