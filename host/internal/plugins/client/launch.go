package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	process "github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/internal/wire"
)

type Spec struct {
	Binary  *discover.Binary
	Sandbox process.Sandbox
	// Known is what the same binary reported before; the zero value if it never did.
	Known trust.Snapshot
	// Described is called once the plugin has reported what it is, before Configure.
	Described func()
}

// Launch brings a plugin from its file to ready: start and go-plugin's handshake, GetInfo, Configure. ctx bounds all of
// it. On failure nothing of the process is left, and the Plugin is returned for what is known of it.
func Launch(ctx context.Context, spawner *process.Spawner, o Options, spec Spec) (*Plugin, error) {
	p := &Plugin{
		opts: o, binary: spec.Binary, sandbox: spec.Sandbox,
		log: o.Logger.Named("plugin").With("strategy", spec.Binary.Name),
		// Replaced by OnHealth; a probe cannot run before.
		health: func(bool, string) {},
	}
	p.life.ctx, p.life.end = context.WithCancelCause(context.Background())
	proc, err := spawner.Start(
		ctx, process.Spec{Binary: p.binary, Sandbox: p.sandbox, StartTimeout: o.StartTimeout, Log: p.log},
	)
	if err != nil {
		p.End(err)
		return p, err
	}
	p.proc, p.remote = proc, newRemote(proc, o.MaxHostCalls, p.kill)
	if err := p.introduce(ctx, spec); err != nil {
		p.End(err)
		p.Close(0)
		if errors.Is(err, fault.ErrBadConfig) {
			return p, err // its standard error would only distract from the wrong setting
		}
		return p, proc.AddStderr(err) // all of it, now that the process is gone
	}
	// While the machine is not busy with this start.
	spawner.Prepare()
	p.log = proc.Log()
	p.log.Debug(
		"plugin ready", "version", p.reported.info.Version, "trigger", p.reported.info.Trigger.Mode, "path",
		p.binary.Path,
	)
	return p, nil
}

// introduce calls GetInfo, then Configure. The host's services, which Configure names, are made ready while the plugin
// answers the first.
func (p *Plugin) introduce(ctx context.Context, spec Spec) error {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	services := make(chan offer, 1)
	go func() {
		id, err := p.remote.serve(serving, p.proc)
		services <- offer{id, err}
	}()
	if err := p.describe(ctx, spec.Known); err != nil {
		// The goroutine writes the fields of remote that Close reads.
		stop()
		<-services
		return err
	}
	// Only now is it known that the process speaks the protocol and not just go-plugin's handshake.
	p.proc.ConnectionIsUp()
	spec.Described()
	return p.configure(ctx, p.opts.Settings, <-services)
}

// offer is the id of the host's services in go-plugin's broker.
type offer struct {
	id  uint32
	err error
}

// describe asks the plugin what it is. A binary that reports something else than before with the same checksum is
// refused: what the user agreed to in the lock file must be what runs.
func (p *Plugin) describe(ctx context.Context, known trust.Snapshot) error {
	answer, err := p.remote.getInfo(ctx, p.opts.HostVersion)
	if err != nil {
		return p.setupFailed(ctx, fault.OpGetInfo, err)
	}
	info, err := wire.FromInfo(answer)
	if err != nil {
		return p.Failure(fault.OpGetInfo, badInfo("%w", err), "")
	}
	p.reported.delta = wire.HistoryDelta(answer)
	if p.reported.info, err = checkInfo(p.binary.Name, info); err != nil {
		return p.Failure(fault.OpGetInfo, err, "")
	}
	if p.reported.record, err = trust.Record(p.reported.info); err != nil {
		return p.Failure(fault.OpGetInfo, badInfo("%w", err), "")
	}
	if n := len(p.reported.record); n > maxRecord {
		p.reported.record = nil
		return p.Failure(fault.OpGetInfo, badInfo("it takes %d bytes, at most %d are allowed", n, maxRecord), "")
	}
	if p.reported.info.NeedsNetwork && !p.sandbox.Grant.Network && p.opts.Isolation != process.IsolationOff {
		return p.Failure(fault.OpGetInfo, fmt.Errorf("%w: it reports that it needs the network", fault.ErrNotGranted),
			"to allow it: plugins.grants."+p.binary.Name+".network: true")
	}
	if known.Contradicts(p.binary.Sum, p.reported.record) {
		return p.Failure(fault.OpGetInfo, fmt.Errorf(
			"%w: it was %s and is %s",
			fault.ErrInfoChanged,
			text.Printable(
				string(known.Info), maxDescription,
			),
			text.Printable(string(p.reported.record), maxDescription),
		),
			"a plugin must answer the same whenever it is asked")
	}
	return nil
}

// configure offers the host's services to the plugin and sends its settings. A plugin refuses a setting with
// INVALID_ARGUMENT; it becomes [fault.ErrBadConfig], for which a restart is useless.
func (p *Plugin) configure(ctx context.Context, settings Settings, services offer) error {
	config, err := Own(p.binary.Name, p.reported.info.Config, settings)
	if err != nil {
		return p.Failure(fault.OpConfigure, err, "")
	}
	p.config = config
	if services.err != nil {
		return p.setupFailed(ctx, fault.OpConfigure, services.err)
	}
	mirrors := uint64(p.opts.MirrorBytes)
	if p.opts.NoMirrors {
		mirrors = 0
	}
	err = p.remote.configure(ctx, wire.Configuration{
		HostServiceID: services.id, Config: config, LogLevel: logLevel(p.opts.Logger), MirrorBytes: &mirrors,
	})
	switch {
	case err == nil:
		return nil
	case status.Code(err) == codes.InvalidArgument:
		return p.Failure(
			fault.OpConfigure,
			fmt.Errorf("%w: strategies.%s: the plugin says: %s", fault.ErrBadConfig, p.binary.Name, message(err)), "",
		)
	default:
		return p.setupFailed(ctx, fault.OpConfigure, err)
	}
}

// setupFailed says why a call failed before the strategy was ready. gRPC reports many reasons as the same lost
// connection, so the state of the process and the context decide first.
func (p *Plugin) setupFailed(ctx context.Context, op fault.Op, err error) error {
	awaitDeadline(ctx, err)
	lost := lost(err)
	gone := lost && ctx.Err() == nil && p.proc.Gone(crashTime)
	if p.life.ctx.Err() != nil { // the host ended it, and knows why
		return p.Failure(op, context.Cause(p.life.ctx), "")
	}
	if failure := p.proc.Outside(ctx, op, err, lost); failure != nil {
		return failure
	}
	var why error
	var hint string
	switch {
	case ctx.Err() != nil:
		why = fmt.Errorf("%w: no answer within %v of the start", fault.ErrTimeout, p.opts.StartTimeout)
		hint = "see plugins.startTimeout"
	case gone:
		why, hint = fmt.Errorf("%w: %s", fault.ErrPluginCrashed, p.proc.ExitState()), p.proc.Refused()
	case lost && p.lostConnection(ctx):
		why = fmt.Errorf("%w: its connection broke", fault.ErrPluginCrashed)
	case status.Code(err) == codes.Unimplemented:
		why = fmt.Errorf("%w: it does not serve thresh.v1.StrategyService", fault.ErrNotPlugin)
		hint = "is it a plugin for another program?"
	default:
		why = fmt.Errorf("%w: %s", fault.ErrStrategy, message(err))
	}
	return p.Failure(op, why, hint)
}

// lost reports whether an error may mean a lost connection: gRPC's UNAVAILABLE, or an error of go-plugin, which has no
// code.
func lost(err error) bool {
	s, ok := status.FromError(err)
	return !ok || s.Code() == codes.Unavailable
}

// message returns a plugin's error, fit to be shown.
func message(err error) string {
	return text.Printable(wire.FromStatus(err).Error(), maxMessage)
}

// maxMessage is in bytes.
const maxMessage = 2000

// logLevel returns the host's log level in the protocol's words, which lack "off"; errors are the closest.
func logLevel(log hclog.Logger) string {
	if level := log.GetLevel(); level > hclog.NoLevel && level <= hclog.Error {
		return level.String()
	}
	return hclog.Error.String()
}
