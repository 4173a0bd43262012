package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"syscall"

	"github.com/hashicorp/go-plugin"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/internal/wire"
)

// startFailed determines why there is no connection. err is go-plugin's view of it, nil if the time was up. It kills
// the process first: only then is the output complete, which may be the only explanation.
func (p *Process) startFailed(ctx context.Context, err error) error {
	c, h := p.child, &p.child.handshake
	running := c.started()
	if running {
		switch {
		case err == nil:
		case h.complete():
			c.gone(dyingTime)
		default: // its standard output has ended, so it is about to be gone: only a busy machine makes that take long
			c.gone(killTime)
		}
		_ = c.kill()
	}
	if failure := p.Outside(ctx, fault.OpStart, err, true); failure != nil {
		return failure
	}
	// From here on it is the plugin: the system would not run it, or it did not do what a plugin does. Versions are
	// compared before what else is wrong with a connection: a mismatch makes all other symptoms meaningless.
	launcher := (*isolate.Failure)(nil)
	var why error
	var hint string
	switch {
	case running && h.complete():
		why, hint = p.noConnection(err)
	case running && err != nil:
		why, hint = fmt.Errorf("%w: it ended (%s) before the handshake was complete%s", fault.ErrNotPlugin, c.exit.state,
			h.printed()), c.endedHint()
	case err == nil:
		why = fmt.Errorf("%w: no handshake line within %v%s", fault.ErrTimeout, p.spec.StartTimeout, h.printed())
		hint = "it may be waiting for something that plugins do not get: input, the network, environment variables"
	case errors.Is(err, fault.ErrUntrusted):
		why = err
	case errors.As(err, &launcher) && launcher.IsSetup(): // before the plugin's program was started
		why, hint = fmt.Errorf("%w: %w", fault.ErrNotIsolated, err), "'thresh doctor' shows what this machine can enforce"
	default:
		why, hint = p.cannotRun(fault.System(err))
	}
	failure := p.Failure(fault.OpStart, why, hint)
	// The only one of these that passes by itself.
	if errors.Is(why, syscall.ETXTBSY) {
		failure.Retryable, failure.Blameless = true, true
	}
	return failure
}

// noConnection says why there is none although the plugin announced its address.
func (p *Process) noConnection(err error) (why error, hint string) {
	h := &p.child.handshake
	switch {
	case h.core != strconv.Itoa(plugin.CoreProtocolVersion):
		return fmt.Errorf("%w: it speaks version %s of go-plugin's protocol, this host speaks %d", fault.ErrIncompatible,
			h.core, plugin.CoreProtocolVersion), "rebuild the plugin with a current SDK"
	case h.app != strconv.Itoa(wire.ProtocolVersion):
		return fmt.Errorf("%w: it speaks version %s of the strategy protocol, this host speaks %d", fault.ErrIncompatible,
			h.app, wire.ProtocolVersion), "use a plugin that was built for this version of thresh"
	case h.protocol != string(plugin.ProtocolGRPC):
		return fmt.Errorf("%w: it does not speak gRPC", fault.ErrIncompatible), "rebuild the plugin with the thresh SDK"
	case err == nil:
		return fmt.Errorf("%w: no connection within %v, though it printed where it listens", fault.ErrTimeout,
			p.spec.StartTimeout), ""
	}
	return fmt.Errorf("%w: %w", fault.ErrNotPlugin, err), ""
}

// cannotRun says why the system would not run the plugin's program.
func (p *Process) cannotRun(err error) (why error, hint string) {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		hint = "was it built for this system?"
	case errors.Is(err, syscall.ENOENT):
		hint = "does the program in its #! line exist?"
	case errors.Is(err, syscall.ETXTBSY):
		hint = "it is still being written; install plugins by renaming them into place"
	}
	// The kernel's error says nothing of isolation. The grant that shows the interpreter to the plugin is better advice.
	if hidden, grant := p.child.hiddenInterpreter(); hidden != "" {
		return fmt.Errorf("%w: isolation keeps %s from it, which it is run by (%w)", fault.ErrNotPlugin, hidden, err),
			fmt.Sprintf("if it may have that: plugins.grants.%s.read: [%s]", p.spec.Binary.Name, grant)
	}
	return fmt.Errorf("%w: %w", fault.ErrNotPlugin, err), hint
}

// Outside returns the failure of a start or a setup that something other than the plugin caused: who waits gave up, no
// one answers at an attached process's socket, something killed the process, or the machine lacks something; else nil.
// err may be nil for a timeout. lost: it may mean that there is no connection.
func (p *Process) Outside(ctx context.Context, op fault.Op, err error, lost bool) *fault.Error {
	cause := context.Cause(ctx)
	switch {
	case p.child.killedByOthers():
		failure := p.Failure(op, fmt.Errorf("%w: %s before it was ready", fault.ErrPluginCrashed, p.child.exit.state),
			"killed (SIGKILL), possibly by the OOM killer")
		failure.Retryable = true // another start may fare better
		return failure
	case cause != nil && !errors.Is(cause, fault.ErrTimeout):
		return p.Failure(op, cause, "")
	case p.spec.Binary.Attached && lost:
		return p.spec.NotAttached(op, cmp.Or(err, cause))
	}
	// Without descriptors, memory or processes every plugin looks broken.
	if lack := p.Lacking(err); lack != nil {
		return p.Failure(op, lack, "")
	}
	return nil
}
