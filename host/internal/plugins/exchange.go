package plugins

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// entriesOf are a history's entries as they travel.
func entriesOf(entries []*history.Entry) iter.Seq[wire.Entry] {
	return func(yield func(wire.Entry) bool) {
		for _, e := range entries {
			if !yield(wire.Entry{ID: e.ID, Tokens: e.Tokens, Content: e.Content}) {
				return
			}
		}
	}
}

// checkResult checks the header of an answer before its parts are received. At most about twice as many parts as a
// sensible answer could have are let in.
func checkResult[M contract.DensityMetadata | contract.CompressMetadata](
	of string, r wire.Result[M], in prepare.Call,
) error {
	const spare = 1000
	most := uint64(2*len(in.Entries) + spare)
	switch {
	case r.Resync:
		return fmt.Errorf("%w: it asks for the whole history, which it was sent", ErrBadAnswer)
	case r.Revision != in.Revision:
		return fmt.Errorf("%w: it is for revision %d of the history, asked for was %d", ErrBadAnswer, r.Revision, in.Revision)
	case r.Parts > most:
		return fmt.Errorf("%w: it announces %d %ss for %d entries, at most %d are allowed",
			ErrBadAnswer, r.Parts, of, len(in.Entries), most)
	}
	return nil
}

// ongoing is one call while it runs.
type ongoing struct {
	process *process
	id      string
	op      Op
	timeout time.Duration
	caller  context.Context
}

// begin makes the context of a call: it ends with the caller's, with the process, and after timeout.
func (p *process) begin(caller context.Context, op Op, timeout time.Duration) (ongoing, context.Context, context.CancelFunc) {
	timed, cancelTimed := withTimeout(caller, timeout)
	ctx, cancel := context.WithCancelCause(timed)
	stop := context.AfterFunc(p.ctx, func() { cancel(context.Cause(p.ctx)) })
	id := p.binary.Name + "-" + strconv.FormatUint(p.lastCall.Add(1), 10)
	return ongoing{process: p, id: id, op: op, timeout: timeout, caller: caller}, ctx, func() {
		stop()
		cancel(nil)
		cancelTimed()
	}
}

// failed says why a call failed.
func (c ongoing) failed(ctx context.Context, err error) error {
	p := c.process
	code := status.Code(err)
	if code == codes.DeadlineExceeded {
		awaitDeadline(ctx)
	}
	failure := p.failure(c.op, nil, "")
	switch {
	case c.caller.Err() != nil:
		failure.Err = c.caller.Err()
	case errors.Is(context.Cause(ctx), ErrTimeout):
		failure.Err = fmt.Errorf("%w: no answer within %v", ErrTimeout, c.timeout)
		p.misses.Add(1)
		p.spawn(p.probe)
	case errors.Is(err, ErrBadAnswer):
		failure.Err = err
	case errors.Is(err, wire.ErrProtocol):
		failure.Err = fmt.Errorf("%w: %w", ErrBadAnswer, err)
	case errors.Is(err, wire.ErrBadContent):
		failure.Err = err
	case code == codes.Unimplemented, code == codes.ResourceExhausted && strings.Contains(err.Error(), "larger than max"):
		failure.Err = fmt.Errorf("%w: %s", ErrBadAnswer, message(err))
	case p.ctx.Err() != nil, code == codes.Unavailable && p.proc.Gone(crashTime):
		// gRPC's words for it are many: the connection broke, is closing, or the call was cancelled.
		failure.Err = p.endedBecause()
		if failure.Retryable = errors.Is(failure.Err, ErrPluginCrashed); failure.Retryable {
			failure.Stderr = p.proc.Stderr()
		}
	default:
		failure.Err = fmt.Errorf("%w: %s", ErrStrategy, message(err))
		if code == codes.Unavailable {
			failure.Retryable = true
			p.spawn(p.probe) // it said so itself, or the connection is lost though the process lives
		}
	}
	return failure
}

// awaitDeadline waits for a deadline that is about to pass. The plugin knows it too, and may say so a moment before ours does.
func awaitDeadline(ctx context.Context) {
	const moment = 100 * time.Millisecond
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < moment {
		<-ctx.Done()
	}
}

// endedBecause says how the process came to its end.
func (p *process) endedBecause() error {
	if cause := context.Cause(p.ctx); cause != nil {
		return cause
	}
	return p.crashed()
}

// withTimeout is context.WithTimeout whose cause is [ErrTimeout], to tell our timeouts from the caller's deadline.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, ErrTimeout)
}
