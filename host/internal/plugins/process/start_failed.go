package process

import (
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
	dying := dyingTime
	if !h.complete() {
		// Its standard output has ended, so it is about to be gone: only a busy machine makes that take long.
		dying = killTime
	}
	// Before this host kills the process: its own SIGKILL would look like the OOM killer's.
	if running && err != nil && c.gone(dying) && c.killedByOthers() {
		return p.Killed(fault.OpStart)
	}
	if running {
		_ = c.kill()
	}
	cause := context.Cause(ctx)
	switch {
	// The caller gave up or the host is closing.
	case cause != nil && !errors.Is(cause, fault.ErrTimeout):
		return p.Failure(fault.OpStart, cause, "")
	case p.spec.Binary.Attached:
		if err == nil {
			err = cause
		}
		return p.spec.NotAttached(fault.OpStart, err)
	}
	// Without descriptors, memory or processes every plugin looks broken, so this precedes judging the plugin.
	if lack := p.Lacking(err); lack != nil {
		return fault.Host(p.spec.Binary.Name, p.spec.Binary.Path, fault.OpStart, lack)
	}
	switch {
	// From here on it is the plugin: the system would not run it, or it did not do what a plugin does.
	case !running && err != nil:
		return p.cannotRun(err)
	case h.complete():
		return p.noConnection(err)
	case err != nil:
		return p.Failure(fault.OpStart, fmt.Errorf("%w: it ended (%s) before the handshake was complete%s",
			fault.ErrNotPlugin, c.exit.state, h.printed()), c.endedHint())
	default:
		return p.Failure(
			fault.OpStart,
			fmt.Errorf("%w: no handshake line within %v%s", fault.ErrTimeout, p.spec.StartTimeout, h.printed()),
			"it may be waiting for something that plugins do not get: input, the network, environment variables",
		)
	}
}

// noConnection determines why there is no connection although the plugin announced its address. Versions are compared
// first: a mismatch makes all other symptoms meaningless.
func (p *Process) noConnection(err error) error {
	h := &p.child.handshake
	switch {
	case h.core != strconv.Itoa(plugin.CoreProtocolVersion):
		return p.Failure(
			fault.OpStart,
			fmt.Errorf("%w: it speaks version %s of go-plugin's protocol, this host speaks %d",
				fault.ErrIncompatible, h.core, plugin.CoreProtocolVersion),
			"rebuild the plugin with a current SDK",
		)
	case h.app != strconv.Itoa(wire.ProtocolVersion):
		return p.Failure(
			fault.OpStart,
			fmt.Errorf(
				"%w: it speaks version %s of the strategy protocol, this host speaks %d", fault.ErrIncompatible,
				h.app, wire.ProtocolVersion,
			),
			"use a plugin that was built for this version of thresh",
		)
	case h.protocol != string(plugin.ProtocolGRPC):
		return p.Failure(fault.OpStart, fmt.Errorf("%w: it does not speak gRPC", fault.ErrIncompatible),
			"rebuild the plugin with the thresh SDK")
	case err != nil:
		return p.Failure(fault.OpStart, fmt.Errorf("%w: %w", fault.ErrNotPlugin, err), "")
	default:
		return p.Failure(fault.OpStart, fmt.Errorf("%w: no connection within %v, though it printed where it listens",
			fault.ErrTimeout, p.spec.StartTimeout), "")
	}
}

func (p *Process) cannotRun(err error) error {
	// A measure of isolation failed before the plugin's program was started.
	if launcher := (*isolate.Failure)(nil); errors.As(err, &launcher) && launcher.IsSetup() {
		return p.spec.Binary.HostFailure(fault.OpStart, fmt.Errorf("%w: %w", fault.ErrNotIsolated, err),
			"'thresh doctor' shows what this machine can enforce")
	}
	failure := p.Failure(fault.OpStart, fmt.Errorf("%w: %w", fault.ErrNotPlugin, fault.System(err)), "")
	// The kernel's error says nothing of isolation. The grant that shows the interpreter to the plugin is better
	// advice.
	if hidden, grant := p.child.hiddenInterpreter(); hidden != "" {
		failure.Err = fmt.Errorf(
			"%w: isolation keeps %s from it, which it is run by (%w)", fault.ErrNotPlugin, hidden, fault.System(err),
		)
		failure.Hint = fmt.Sprintf("if it may have that: plugins.grants.%s.read: [%s]", failure.Plugin, grant)
		return failure
	}
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		failure.Hint = "was it built for this system?"
	case errors.Is(err, syscall.ENOENT):
		failure.Hint = "does the program in its #! line exist?"
	// The only one of these that passes by itself.
	case errors.Is(err, syscall.ETXTBSY):
		failure.Hint = "it is still being written; install plugins by renaming them into place"
		failure.Retryable = true
	}
	return failure
}

// Killed returns the error for a process that was killed with SIGKILL before it was ready. The plugin is not the cause,
// so another start may succeed.
func (p *Process) Killed(op fault.Op) *fault.Error {
	failure := p.Failure(op, fmt.Errorf("%w: %s before it was ready", fault.ErrPluginCrashed, p.child.exit.state),
		"killed (SIGKILL), possibly by the OOM killer")
	failure.Retryable = true
	return failure
}
