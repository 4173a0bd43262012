package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/shell"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// entriesOf converts entries one at a time, without a copy of the list.
func entriesOf(entries []*history.Entry, look looking) iter.Seq[wire.Entry] {
	return func(yield func(wire.Entry) bool) {
		for _, e := range entries {
			if !yield(sent(e, look)) {
				return
			}
		}
	}
}

// looking is by what entries say what their commands read and write; without tools they do not.
type looking struct {
	tools *tools.Taxonomy
	dirs  *shell.Dirs
}

func sent(e *history.Entry, look looking) wire.Entry {
	return wire.Entry{ID: e.ID, Tokens: e.Tokens, Content: shell.Annotated(e.Content, look.tools, look.dirs.At(e.ID))}
}

// checkResult checks the header of an answer before its parts are received. It admits about twice as many parts as a
// sensible answer has: this bounds memory; the exact check follows.
func checkResult[M sdk.DensityMetadata | sdk.CompressMetadata](
	of string, r wire.Result[M], in prepare.Call,
) error {
	const spare = 1000
	most := uint64(2*len(in.Entries) + spare)
	switch {
	case r.Resync:
		return fmt.Errorf("%w: it asks for the whole history, which it was sent", fault.ErrBadAnswer)
	case r.Revision != in.Revision:
		return fmt.Errorf(
			"%w: it is for revision %d of the history, asked for was %d", fault.ErrBadAnswer, r.Revision, in.Revision,
		)
	case r.Parts > most:
		return fmt.Errorf("%w: it announces %d %ss for %d entries, at most %d are allowed",
			fault.ErrBadAnswer, r.Parts, of, len(in.Entries), most)
	}
	if m, ok := any(r.Metadata).(sdk.CompressMetadata); ok {
		if err := check.Counts(m.Counts); err != nil {
			return fmt.Errorf("%w: %w", fault.ErrBadAnswer, err)
		}
	}
	return nil
}

// failed describes why a call failed. Where several causes apply, the order is: the caller gave up, the timeout, a
// bad answer, the end of the process, what the plugin says. A timeout also starts a probe: a plugin that hangs would
// let every later call time out.
func (c *ongoing) failed(err error) error {
	p, code := c.plugin, status.Code(err)
	awaitDeadline(c.ctx, err)
	var why error
	var hint, stderr string
	retryable := false
	switch {
	// The context's own error, so callers recognise their cancellation.
	case c.caller.Err() != nil:
		why = c.caller.Err()
	case errors.Is(context.Cause(c.ctx), fault.ErrTimeout):
		why = fmt.Errorf("%w: no answer within %v", fault.ErrTimeout, c.timeout)
		hint = "see plugins." + string(c.op) + "Timeout"
		p.calls.misses.Add(1)
		p.opts.Spawn(p.probe)
	// The latter is of the host's own history, which cannot be sent: not the plugin's fault.
	case errors.Is(err, fault.ErrBadAnswer), errors.Is(err, wire.ErrBadContent):
		why = err
	case errors.Is(err, wire.ErrProtocol):
		why = fmt.Errorf("%w: %w", fault.ErrBadAnswer, err)
	// gRPC reports a message above its bound with the same code as a spent budget; only the text differs.
	case code == codes.Unimplemented,
		code == codes.ResourceExhausted && strings.Contains(err.Error(), "larger than max"):
		why = fmt.Errorf("%w: %s", fault.ErrBadAnswer, message(err))
	// gRPC has many words for it: the connection broke, is closing, or the call was cancelled.
	case p.life.ctx.Err() != nil, code == codes.Unavailable && p.vanished(c.caller):
		if why = p.endedBecause(); errors.Is(why, fault.ErrPluginCrashed) {
			stderr, retryable = p.proc.Stderr(), true
		}
	// The process cannot ask the host any more, however often it is tried: only another one can.
	case c.op == fault.OpCompress && p.remote.accepted.cutOff():
		why = errCutOff
		p.End(errCutOff)
	default:
		why = fmt.Errorf("%w: %s", fault.ErrStrategy, message(err))
		// A strategy says UNAVAILABLE when a service failed it for the moment.
		retryable = code == codes.Unavailable
	}
	failure := p.Failure(c.op, why, hint)
	failure.Stderr, failure.Retryable = stderr, failure.Retryable || retryable
	return failure
}

var errCutOff = fmt.Errorf("%w: the directory of its sockets is gone, so it could not ask the host: was the temporary "+
	"directory emptied? the next call starts another process", fault.ErrHost)

// awaitDeadline waits for a deadline that has passed, or is about to. The plugin knows the deadline too and may report
// it, or an error caused by it, before the host's timer fires; without the wait the timeout would look like the
// strategy's failure.
func awaitDeadline(ctx context.Context, err error) {
	const moment = 100 * time.Millisecond
	deadline, ok := ctx.Deadline()
	if left := time.Until(deadline); ok && (left <= 0 || status.Code(err) == codes.DeadlineExceeded && left < moment) {
		<-ctx.Done()
	}
}

// endedBecause returns the reason given to End, else how the process exited.
func (p *Plugin) endedBecause() error {
	if cause := context.Cause(p.life.ctx); cause != nil {
		return cause
	}
	return p.crashed()
}

// WithTimeout is context.WithTimeout with the cause [fault.ErrTimeout], which tells the host's timeouts from the
// caller's deadline.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, fault.ErrTimeout)
}
