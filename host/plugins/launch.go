package plugins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
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

// maxReceive is the largest single message that a plugin may send, in bytes: a chunk, with room to spare.
const maxReceive = 4 << 20

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
func launch(ctx context.Context, m *Manager, c candidate) (*process, error) {
	log := m.opts.Logger.Named("plugin").With("strategy", c.name)
	p := &process{name: c.name, path: c.path, log: log, opts: &m.opts, goes: m.goes, services: newHostServices()}
	p.ctx, p.end = context.WithCancelCause(context.Background())
	p.child = newChild(c.path, log, m.starter)

	conn, err := p.connect(ctx, m.run.path)
	if err == nil {
		p.strategy = threshv1.NewStrategyServiceClient(conn.conn)
		err = p.describe(ctx)
	}
	if err == nil {
		err = p.configure(ctx, conn.broker, m.opts.StrategyConfig[c.name])
	}
	if err != nil {
		p.end(err)
		p.destroy(0)
		var failure *Error
		if errors.As(err, &failure) && !errors.Is(err, ErrBadConfig) {
			failure.Stderr = printableLines(p.child.stderr.String()) // all of it, now that the process is gone
		}
		return p, err
	}
	p.log = p.child.log
	p.log.Debug("the plugin is ready", "version", p.info.Version, "trigger", p.info.Trigger.Mode, "path", c.path)
	return p, nil
}

// connect starts the process and goes through go-plugin's handshake.
func (p *process) connect(ctx context.Context, runDir string) (*connection, error) {
	type result struct {
		conn *connection
		err  error
	}
	stdio := &stdioLogger{log: p.log.Named("stdio")}
	p.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: wire.Handshake(),
		Plugins:         plugin.PluginSet{wire.PluginName: &connection{}},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
			p.child.prepare(cmd.Env, dir)
			return p.child, nil
		},
		SkipHostEnv:      true,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		StartTimeout:     2 * p.opts.StartTimeout, // ctx comes first
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: runDir},
		GRPCDialOptions:  []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReceive))},
		Logger:           hclog.NewNullLogger(), // what matters is logged here, with the plugin's name and process id
		SyncStdout:       stdio,
		SyncStderr:       stdio,
	})
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

// startFailed says in our words why there is no connection. err is go-plugin's view of it, nil if time was up.
func (p *process) startFailed(ctx context.Context, err error) error {
	c, h := p.child, &p.child.handshake
	running := c.started()
	if running {
		_ = c.kill() // then the output has been read to its end, which may be all that there is to tell
	}
	cause := context.Cause(ctx)
	switch {
	case cause != nil && !errors.Is(cause, ErrTimeout):
		return p.failure(OpStart, cause, "")
	case !running && err != nil:
		return p.cannotRun(err)
	case h.complete() && h.core != strconv.Itoa(plugin.CoreProtocolVersion):
		return p.failure(OpStart, fmt.Errorf("%w: it speaks version %s of go-plugin's protocol, this host speaks %d",
			ErrIncompatible, h.core, plugin.CoreProtocolVersion), "rebuild the plugin with a current SDK")
	case h.complete() && h.app != strconv.Itoa(wire.ProtocolVersion):
		return p.failure(OpStart, fmt.Errorf("%w: it speaks version %s of the strategy protocol, this host speaks %d",
			ErrIncompatible, h.app, wire.ProtocolVersion), "use a plugin that was built for this version of thresh")
	case h.complete() && h.protocol != string(plugin.ProtocolGRPC):
		return p.failure(OpStart, fmt.Errorf("%w: it does not speak gRPC", ErrIncompatible), "rebuild the plugin with the thresh SDK")
	case h.complete() && err != nil:
		return p.failure(OpStart, fmt.Errorf("%w: %w", ErrNotPlugin, err), "")
	case h.complete():
		return p.failure(OpStart, fmt.Errorf("%w: no connection within %v, though it said where it listens", ErrTimeout, p.opts.StartTimeout), "")
	case err != nil:
		return p.failure(OpStart, fmt.Errorf("%w: it ended (%s) before the handshake was complete%s", ErrNotPlugin, c.state, h.printed()),
			"run it by hand to see what it is")
	default:
		return p.failure(OpStart, fmt.Errorf("%w: no handshake within %v%s", ErrTimeout, p.opts.StartTimeout, h.printed()),
			"it may be waiting for something that plugins do not get: input, the network, environment variables")
	}
}

// cannotRun says why the system did not start the file.
func (p *process) cannotRun(err error) error {
	failure := p.failure(OpStart, fmt.Errorf("%w: %w", ErrNotPlugin, trimExec(err)), "")
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		failure.Hint = "was it built for this system?"
	case errors.Is(err, syscall.ENOENT):
		failure.Hint = "is the program in its #! line there?"
	case errors.Is(err, syscall.ETXTBSY):
		failure.Hint = "it is still being written; install plugins by renaming them into place"
		failure.Retryable = true
	}
	return failure
}

// describe is the second half of the handshake: the plugin says what it is.
func (p *process) describe(ctx context.Context) error {
	resp, err := p.strategy.GetInfo(ctx, &threshv1.GetInfoRequest{HostVersion: p.opts.HostVersion})
	if err == nil {
		p.info, err = readInfo(p.name, resp)
		if err != nil {
			return p.failure(OpGetInfo, err, "")
		}
		return nil
	}
	return p.setupFailed(ctx, OpGetInfo, err)
}

// configure opens the host's services to the plugin and hands it its settings.
func (p *process) configure(ctx context.Context, broker *plugin.GRPCBroker, values map[string]any) error {
	config, err := checkConfig(p.name, p.info.Config, values)
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

	_, err = p.strategy.Configure(ctx, &threshv1.ConfigureRequest{HostServiceId: id, Config: config, LogLevel: logLevel(p.opts.Logger)})
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

// setupFailed says why a call failed that is made before a strategy is ready.
func (p *process) setupFailed(ctx context.Context, op Op, err error) error {
	cause := context.Cause(ctx)
	switch {
	case cause != nil && !errors.Is(cause, ErrTimeout):
		return p.failure(op, cause, "")
	case cause != nil:
		return p.failure(op, fmt.Errorf("%w: no answer within %v of the start", ErrTimeout, p.opts.StartTimeout), "see plugins.startTimeout")
	case status.Code(err) == codes.Unavailable && p.child.gone(crashTime):
		return p.failure(op, fmt.Errorf("%w: %s", ErrPluginCrashed, p.child.state), "")
	case status.Code(err) == codes.Unimplemented:
		return p.failure(op, fmt.Errorf("%w: it does not serve thresh.v1.StrategyService", ErrNotPlugin), "is it a plugin for another program?")
	default:
		return p.failure(op, fmt.Errorf("%w: %s", ErrStrategy, message(err)), "")
	}
}

func (p *process) failure(op Op, err error, hint string) *Error {
	return &Error{Plugin: p.name, Path: p.path, Op: op, Err: err, Hint: hint}
}

// message is the text of an error that a plugin sent, fit to be shown.
func message(err error) string {
	return printable(wire.FromStatus(err).Error(), maxMessage)
}

// maxMessage is how much of an error's text from a plugin is shown, in bytes.
const maxMessage = 2000

// trimExec is the system's error without "fork/exec" and the path, which the sentence names anyway.
func trimExec(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
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
