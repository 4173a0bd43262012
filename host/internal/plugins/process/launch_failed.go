package plugins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"syscall"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/internal/wire"
)

// startFailed says in our words why there is no connection. err is go-plugin's view of it, nil if time was up.
func (p *process) startFailed(ctx context.Context, err error) error {
	c, h := p.child, &p.child.handshake
	running := c.started()
	if running && err != nil && c.gone(dyingTime) && c.killedByOthers() {
		return p.killed(OpStart)
	}
	if running {
		_ = c.kill() // then the output has been read to its end, which may be all that there is to tell
	}
	cause := context.Cause(ctx)
	switch {
	case cause != nil && !errors.Is(cause, ErrTimeout):
		return p.failure(OpStart, cause, "")
	case p.binary.attached:
		return p.notAttached(OpStart, err)
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
			c.endedHint())
	default:
		return p.failure(OpStart, fmt.Errorf("%w: no handshake within %v%s", ErrTimeout, p.opts.StartTimeout, h.printed()),
			"it may be waiting for something that plugins do not get: input, the network, environment variables")
	}
}

// cannotRun says why the system did not start the file.
func (p *process) cannotRun(err error) error {
	failure := p.failure(OpStart, fmt.Errorf("%w: %w", ErrNotPlugin, trimExec(err)), "")
	if hidden, grant := p.child.hiddenInterpreter(); hidden != "" {
		failure.Err = fmt.Errorf("%w: isolation keeps %s from it, which it is run by (%w)", ErrNotPlugin, hidden, trimExec(err))
		failure.Hint = fmt.Sprintf("if it may have that: plugins.grants.%s.read: [%s]", p.name, grant)
		return failure
	}
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
	case lost(err) && p.binary.attached:
		return p.notAttached(op, err)
	case lost(err) && p.child.gone(crashTime):
		if p.child.killedByOthers() {
			return p.killed(op)
		}
		return p.failure(op, fmt.Errorf("%w: %s", ErrPluginCrashed, p.child.state), "")
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

// killed is the error for a process that was killed before it was ready. That is not its doing, so another may fare better.
func (p *process) killed(op Op) error {
	failure := p.failure(op, fmt.Errorf("%w: %s before it was ready", ErrPluginCrashed, p.child.state), "somebody killed it, or the system did, for want of memory")
	failure.Retryable = true
	return failure
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
