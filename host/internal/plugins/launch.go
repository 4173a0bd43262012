package plugins

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

// maxReceive is the largest single message that a plugin may send, in bytes.
const maxReceive = wire.MaxGRPCMessage

// connection is what go-plugin dispenses: the connection itself.
type connection struct {
	plugin.NetRPCUnsupportedPlugin
	conn   *grpc.ClientConn
	broker *plugin.GRPCBroker
}

var _ plugin.GRPCPlugin = (*connection)(nil)

// GRPCServer is for the plugin's side, which is elsewhere.
func (*connection) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("this is the host's side")
}

// GRPCClient hands out the connection.
func (*connection) GRPCClient(_ context.Context, broker *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return &connection{conn: conn, broker: broker}, nil
}

// launch brings a plugin from its file to ready: start and go-plugin's handshake, GetInfo, Configure. ctx bounds all of it.
// On failure nothing of the process is left; the process is returned beside the error if it could be described.
func launch(ctx context.Context, m *Manager, b *binary, known snapshot, reached func(State)) (*process, error) {
	p := newProcess(m, b)
	cage, err := m.cageFor(b.name)
	if err != nil {
		p.end(err)
		failure := p.failure(OpStart, err, "'thresh doctor' says what this machine can enforce")
		failure.ours = true
		return nil, failure
	}
	p.lacking = cage.lacking
	p.child = newChild(b, cage, p.log, m.starter)
	return p, p.bringUp(ctx, m.run.path, known, reached)
}

// newProcess makes a process that is still to be brought up.
func newProcess(m *Manager, b *binary) *process {
	p := &process{
		name: b.name, path: b.path, binary: b, log: m.opts.Logger.Named("plugin").With("strategy", b.name), opts: &m.opts, goes: m.goes,
		services: newHostServices(m.opts.MaxHostCalls), gone: make(chan struct{}),
	}
	p.ctx, p.end = context.WithCancelCause(context.Background())
	return p
}

// bringUp brings a process from its start to ready. On failure nothing of it is left.
func (p *process) bringUp(ctx context.Context, runDir string, known snapshot, reached func(State)) error {
	reached(StateStarting)
	conn, err := p.connect(ctx, runDir)
	if err == nil {
		p.strategy = threshv1.NewStrategyServiceClient(conn.conn)
		err = p.describe(ctx, known)
	}
	if err == nil && p.binary.attached {
		go p.child.leaveWith(conn.conn)
	}
	if err == nil {
		reached(StateDescribed)
		err = p.configure(ctx, conn.broker, p.opts.Settings)
	}
	if err != nil {
		p.end(err)
		if p.binary.attached {
			p.child.leave()
		}
		p.destroy(0)
		var failure *Error
		if errors.As(err, &failure) && !errors.Is(err, ErrBadConfig) {
			failure.Stderr = printableLines(p.child.stderr.String()) // all of it, now that the process is gone
		}
		return err
	}
	p.log = p.child.log
	p.log.Debug("the plugin is ready", "version", p.info.Version, "trigger", p.info.Trigger.Mode, "path", p.path)
	return nil
}

// connect starts the process and goes through go-plugin's handshake.
func (p *process) connect(ctx context.Context, runDir string) (*connection, error) {
	type result struct {
		conn *connection
		err  error
	}
	stdio := &stdioLogger{log: p.log.Named("stdio")}
	settings := &plugin.ClientConfig{
		HandshakeConfig:  wire.Handshake(),
		Plugins:          plugin.PluginSet{wire.PluginName: &connection{}},
		SkipHostEnv:      true,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		StartTimeout:     2 * p.opts.StartTimeout, // ctx comes first
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: runDir},
		GRPCDialOptions:  []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReceive))},
		Logger:           hclog.NewNullLogger(), // what matters is logged here, with the plugin's name and process id
		SyncStdout:       stdio,
		SyncStderr:       stdio,
	}
	if p.binary.attached {
		settings.Reattach = p.child.reattach()
	} else {
		settings.RunnerFunc = func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
			p.child.prepare(cmd.Env, dir)
			return p.child, nil
		}
	}
	p.client = plugin.NewClient(settings)
	done := make(chan result, 1)
	go func() { // go-plugin opens streams without a deadline
		var r result
		rpc, err := p.client.Client()
		p.child.settle() // whatever happened: if it was not started yet, it will not be
		if err == nil {
			var raw any
			raw, err = rpc.Dispense(wire.PluginName)
			r.conn, _ = raw.(*connection)
		}
		r.err = err
		done <- r
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, p.startFailed(ctx, r.err)
		}
		return r.conn, nil
	case <-ctx.Done():
		return nil, p.startFailed(ctx, nil)
	}
}

// describe is the second half of the handshake: the plugin says what it is.
func (p *process) describe(ctx context.Context, known snapshot) error {
	resp, err := p.strategy.GetInfo(ctx, &threshv1.GetInfoRequest{HostVersion: p.opts.HostVersion})
	if err != nil {
		return p.setupFailed(ctx, OpGetInfo, err)
	}
	info, err := wire.FromInfo(resp)
	if err != nil {
		return p.failure(OpGetInfo, badInfo("%w", err), "")
	}
	if p.info, err = checkInfo(p.name, info); err != nil {
		return p.failure(OpGetInfo, err, "")
	}
	if p.record, err = record(p.info); err != nil {
		return p.failure(OpGetInfo, badInfo("%w", err), "")
	}
	if p.info.NeedsNetwork && !p.child.cage.grant.Network && p.opts.Isolation != IsolationOff {
		return p.failure(OpGetInfo, fmt.Errorf("%w: it says that it needs the network", ErrNotGranted),
			"if it is to have it: plugins.grants."+p.name+".network: true")
	}
	return p.unchanged(known)
}

// unchanged compares what the plugin says with what the same binary said before.
func (p *process) unchanged(known snapshot) error {
	if known.sum == "" || known.sum != p.binary.sum || bytes.Equal(known.info, p.record) {
		return nil
	}
	return p.failure(OpGetInfo, fmt.Errorf("%w: it was %s and is %s", ErrInfoChanged,
		printable(string(known.info), maxDescription), printable(string(p.record), maxDescription)),
		"a plugin must answer the same whenever it is asked")
}

// configure opens the host's services to the plugin and hands it its settings.
func (p *process) configure(ctx context.Context, broker *plugin.GRPCBroker, settings Settings) error {
	config, err := own(p.name, p.info.Config, settings)
	if err != nil {
		return p.failure(OpConfigure, err, "")
	}
	p.config = config
	id := broker.NextId()
	listener, err := accept(ctx, broker, id)
	if err != nil {
		return p.setupFailed(ctx, OpConfigure, err)
	}
	p.server = grpc.NewServer(grpc.MaxRecvMsgSize(maxReceive))
	threshv1.RegisterHostServiceServer(p.server, p.services)
	go func() { _ = p.server.Serve(listener) }() // until destroy stops it, which also closes the listener

	_, err = p.strategy.Configure(ctx, wire.ToConfigure(wire.Configuration{
		HostServiceID: id, Config: config, LogLevel: logLevel(p.opts.Logger),
	}))
	switch {
	case err == nil:
		return nil
	case status.Code(err) == codes.InvalidArgument:
		return p.failure(OpConfigure, fmt.Errorf("%w: strategies.%s: the plugin says: %s", ErrBadConfig, p.name, message(err)), "")
	default:
		return p.setupFailed(ctx, OpConfigure, err)
	}
}

// accept is broker.Accept with a deadline: it waits for a stream that a plugin may never open.
func accept(ctx context.Context, broker *plugin.GRPCBroker, id uint32) (net.Listener, error) {
	type result struct {
		listener net.Listener
		err      error
	}
	done := make(chan result, 1)
	go func() {
		l, err := broker.Accept(id)
		done <- result{l, err}
	}()
	select {
	case r := <-done:
		return r.listener, r.err
	case <-ctx.Done():
		go func() { // ends when destroy closes the broker
			if r := <-done; r.listener != nil {
				_ = r.listener.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

func logLevel(log hclog.Logger) string {
	if level := log.GetLevel(); level > hclog.NoLevel && level <= hclog.Error {
		return level.String()
	}
	return hclog.Error.String()
}

// stdioLogger logs what a plugin prints with its language's means once go-plugin has taken over its standard output.
type stdioLogger struct{ log hclog.Logger }

// Write logs p as it comes, which may be part of a line.
func (l *stdioLogger) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		l.log.Debug(printable(strings.TrimRight(line, "\r\n"), maxLogLine))
	}
	return len(p), nil
}

// withTimeout is context.WithTimeout whose cause is [ErrTimeout], to tell our bounds from the caller's.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, ErrTimeout)
}
