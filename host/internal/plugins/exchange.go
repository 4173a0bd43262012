package plugins

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/internal/wire"
)

// send takes the steps of a request, up to the first that fails.
func send(steps ...func() error) error {
	for _, step := range steps {
		switch err := step(); {
		case errors.Is(err, io.EOF):
			return nil // the plugin has ended the call already; receiving will say why
		case err != nil:
			return err
		}
	}
	return nil
}

func sendEntries(entries []*history.Entry, sendChunk func([]byte) error) error {
	w := wire.NewWriter(sendChunk)
	for i, e := range entries {
		if err := w.Entry(e.ID, e.Tokens, e.Content); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return w.Flush()
}

var errSecondHeader = fmt.Errorf("%w: it sends a second header", ErrBadAnswer)

func noHeader(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it ended the call without an answer", ErrBadAnswer)
	}
	return err
}

func checkHeader(in Call, present bool, revision uint64, resync bool) error {
	switch {
	case !present:
		return fmt.Errorf("%w: it does not begin with a header", ErrBadAnswer)
	case resync:
		return fmt.Errorf("%w: it asks for the whole history, which it was sent", ErrBadAnswer)
	case revision != in.Revision:
		return fmt.Errorf("%w: it is for revision %d of the history, asked for was %d", ErrBadAnswer, revision, in.Revision)
	default:
		return nil
	}
}

// limits says what an answer may hold: about what a sensible one could name twice over, since each part takes memory here
// however few bytes it takes on the wire.
func (p *process) limits(of string, announced uint64, entries int) (wire.Limits, error) {
	const spare = 1000
	if most := uint64(2*entries + spare); announced > most {
		return wire.Limits{}, fmt.Errorf("%w: it announces %d %ss for %d entries, at most %d are allowed", ErrBadAnswer, announced, of, entries, most)
	}
	return wire.Limits{Of: of, Count: int(announced), Message: p.opts.MaxAnswerBytes, Total: p.opts.MaxAnswerBytes}, nil
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
