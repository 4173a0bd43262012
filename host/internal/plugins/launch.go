package plugins

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	osprocess "github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

// launch brings a plugin from its file to ready: start and go-plugin's handshake, GetInfo, Configure. ctx bounds all of it.
// On failure nothing of the process is left; the process is returned with the error, for what is known of it.
func launch(
	ctx context.Context, m *Manager, opts *Options, b *discover.Binary, sandbox osprocess.Sandbox, known trust.Snapshot, reached func(State),
) (*process, error) {
	p := &process{
		binary: b, sandbox: sandbox, log: m.opts.Logger.Named("plugin").With("strategy", b.Name), opts: opts, spawn: m.spawn,
		services: newHostServices(m.opts.MaxHostCalls), gone: make(chan struct{}),
	}
	p.ctx, p.end = context.WithCancelCause(context.Background())
	err := p.bringUp(ctx, m.spawner, known, reached)
	return p, err
}

// bringUp brings a process from its start to ready. On failure nothing of it is left.
func (p *process) bringUp(ctx context.Context, spawner *osprocess.Spawner, known trust.Snapshot, reached func(State)) error {
	reached(StateStarting)
	spec := osprocess.Spec{Binary: p.binary, Sandbox: p.sandbox, StartTimeout: p.opts.StartTimeout, Log: p.log}
	proc, err := spawner.Start(ctx, spec)
	if err != nil {
		p.end(err)
		return err
	}
	p.proc, p.strategy = proc, threshv1.NewStrategyServiceClient(proc.Conn())
	if err = p.describe(ctx, known); err == nil {
		proc.ConnectionIsUp()
		reached(StateDescribed)
		err = p.configure(ctx, p.opts.Settings)
	}
	if err != nil {
		p.end(err)
		p.destroy(0)
		if !errors.Is(err, ErrBadConfig) {
			err = proc.AddStderr(err) // all of it, now that the process is gone
		}
		return err
	}
	p.log = proc.Log()
	p.log.Debug("plugin ready", "version", p.info.Version, "trigger", p.info.Trigger.Mode, "path", p.binary.Path)
	return nil
}

// describe is the second half of the handshake: the plugin reports what it is.
func (p *process) describe(ctx context.Context, known trust.Snapshot) error {
	resp, err := p.strategy.GetInfo(ctx, &threshv1.GetInfoRequest{HostVersion: p.opts.HostVersion})
	if err != nil {
		return p.setupFailed(ctx, OpGetInfo, err)
	}
	info, err := wire.FromInfo(resp)
	if err != nil {
		return p.failure(OpGetInfo, badInfo("%w", err), "")
	}
	if p.info, err = checkInfo(p.binary.Name, info); err != nil {
		return p.failure(OpGetInfo, err, "")
	}
	if p.record, err = trust.Record(p.info); err != nil {
		return p.failure(OpGetInfo, badInfo("%w", err), "")
	}
	if p.info.NeedsNetwork && !p.sandbox.Grant.Network && p.opts.Isolation != IsolationOff {
		return p.failure(OpGetInfo, fmt.Errorf("%w: it says that it needs the network", ErrNotGranted),
			"if it is to have it: plugins.grants."+p.binary.Name+".network: true")
	}
	if known.Contradicts(p.binary.Sum, p.record) {
		return p.failure(OpGetInfo, fmt.Errorf("%w: it was %s and is %s", ErrInfoChanged,
			text.Printable(string(known.Info), maxDescription), text.Printable(string(p.record), maxDescription)),
			"a plugin must answer the same whenever it is asked")
	}
	return nil
}

// configure opens the host's services to the plugin and hands it its settings.
func (p *process) configure(ctx context.Context, settings Settings) error {
	config, err := own(p.binary.Name, p.info.Config, settings)
	if err != nil {
		return p.failure(OpConfigure, err, "")
	}
	p.config = config
	id, listener, err := p.proc.Accept(ctx)
	if err != nil {
		return p.setupFailed(ctx, OpConfigure, err)
	}
	p.server = grpc.NewServer(grpc.MaxRecvMsgSize(osprocess.MaxReceive))
	threshv1.RegisterHostServiceServer(p.server, p.services)
	go func() { _ = p.server.Serve(listener) }() // until destroy stops it, which also closes the listener

	_, err = p.strategy.Configure(ctx, wire.ToConfigure(wire.Configuration{
		HostServiceID: id, Config: config, LogLevel: logLevel(p.opts.Logger),
	}))
	switch {
	case err == nil:
		return nil
	case status.Code(err) == codes.InvalidArgument:
		return p.failure(OpConfigure, fmt.Errorf("%w: strategies.%s: the plugin says: %s", ErrBadConfig, p.binary.Name, message(err)), "")
	default:
		return p.setupFailed(ctx, OpConfigure, err)
	}
}

// setupFailed says why a call failed that is made before a strategy is ready.
func (p *process) setupFailed(ctx context.Context, op Op, err error) error {
	if status.Code(err) == codes.DeadlineExceeded {
		awaitDeadline(ctx)
	}
	cause := context.Cause(ctx)
	switch {
	case cause != nil && !errors.Is(cause, ErrTimeout):
		return p.failure(op, cause, "")
	case cause != nil:
		return p.failure(op, fmt.Errorf("%w: no answer within %v of the start", ErrTimeout, p.opts.StartTimeout), "see plugins.startTimeout")
	case lost(err) && p.binary.Attached:
		return osprocess.Spec{Binary: p.binary}.NotAttached(op, err)
	case lost(err) && p.proc.Gone(crashTime):
		if p.proc.KilledByOthers() {
			return p.proc.Killed(op)
		}
		return p.failure(op, fmt.Errorf("%w: %s", ErrPluginCrashed, p.proc.ExitState()), "")
	case status.Code(err) == codes.Unimplemented:
		return p.failure(op, fmt.Errorf("%w: it does not serve thresh.v1.StrategyService", ErrNotPlugin), "is it a plugin for another program?")
	default:
		return p.failure(op, fmt.Errorf("%w: %s", ErrStrategy, message(err)), "")
	}
}

// lost reports whether an error may mean that the connection broke: gRPC says so, or go-plugin, whose errors have no code.
func lost(err error) bool {
	s, ok := status.FromError(err)
	return !ok || s.Code() == codes.Unavailable
}

// message is the text of an error that a plugin sent, fit to be shown.
func message(err error) string {
	return text.Printable(wire.FromStatus(err).Error(), maxMessage)
}

// maxMessage is how much of an error's text from a plugin is shown, in bytes.
const maxMessage = 2000

func logLevel(log hclog.Logger) string {
	if level := log.GetLevel(); level > hclog.NoLevel && level <= hclog.Error {
		return level.String()
	}
	return hclog.Error.String()
}
