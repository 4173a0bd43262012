package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk"
)

// Optimize asks a continuous strategy what to prune. It returns a [*fault.Error], or one around ctx's
// error.
func (p *Plugin) Optimize(ctx context.Context, in prepare.OptimizeCall) (prepare.OptimizeAnswer, error) {
	if p.reported.info.Trigger.Mode != sdk.ModeContinuous {
		return prepare.OptimizeAnswer{}, p.Failure(fault.OpOptimize, fault.ErrNotContinuous, "")
	}
	c := p.begin(ctx, fault.OpOptimize, p.opts.OptimizeTimeout, in.Call)
	defer c.end()
	answer, edits, err := ask(c, func(h wire.Call) (*wire.Stream[sdk.DensityMetadata, rewrite.Edit], error) {
		return wire.OpenOptimize(c.ctx, p.remote.strategy, h, in.OptimizeParams)
	})
	return prepare.OptimizeAnswer{Edits: edits, Metadata: answer.Metadata}, err
}

// Compress asks a strategy for a smaller history. While it runs, the plugin can use services (nil: none); what it asks
// gets a context that ends with the call. It returns a [*fault.Error], or one around ctx's error.
func (p *Plugin) Compress(
	ctx context.Context, in prepare.CompressCall, services sdk.Host,
) (prepare.CompressAnswer, error) {
	c := p.begin(ctx, fault.OpCompress, p.opts.CompressTimeout, in.Call)
	defer c.end()
	defer p.remote.services.open(
		c.id, &serviceCall{ctx: c.ctx, host: services, mayGenerate: p.reported.info.RequiresLLM},
	)()
	answer, pieces, err := ask(c, func(h wire.Call) (*wire.Stream[sdk.CompressMetadata, rewrite.Piece], error) {
		return wire.OpenCompress(c.ctx, p.remote.strategy, h, in.CompressParams)
	})
	return prepare.CompressAnswer{
		NoOp:     sdk.NoOpReason(text.Printable(string(answer.NoOp), maxMessage)),
		Pieces:   pieces,
		Metadata: answer.Metadata,
	}, err
}

// ongoing is one running call. Its id is unique per host process, so a late question of an earlier call is not mistaken
// for one of this call.
type ongoing struct {
	plugin  *Plugin
	id      string
	op      fault.Op
	timeout time.Duration
	in      prepare.Call
	look    looking
	caller  context.Context
	ctx     context.Context // ends with the caller's, with the process, and after timeout; the cause tells which
	end     func()          // to be called when the call is over
	known   held            // what the process held of the session before the call
	after   held            // and holds after it
}

// begin begins a call. The time for sending counts: a plugin that does not read must not hold the call up.
func (p *Plugin) begin(caller context.Context, op fault.Op, timeout time.Duration, in prepare.Call) *ongoing {
	if in.Config == nil {
		in.Config = p.config
	}
	timed, cancelTimed := WithTimeout(caller, timeout)
	ctx, cancel := context.WithCancelCause(timed)
	stop := context.AfterFunc(p.life.ctx, func() { cancel(context.Cause(p.life.ctx)) })
	id := p.binary.Name + "-" + strconv.FormatUint(p.calls.last.Add(1), 10)
	c := &ongoing{plugin: p, id: id, op: op, timeout: timeout, in: in, look: p.looksFor(in), caller: caller, ctx: ctx}
	mirrored := func() {}
	if p.Mirrors() {
		var u *use
		c.known, u = p.sessions.take(in.SessionID)
		mirrored = func() { p.done(in.SessionID, u, c.after) }
	}
	c.end = func() {
		mirrored()
		stop()
		cancel(nil)
		cancelTimed()
	}
	return c
}

// errResync says that the plugin does not hold what the call built on. It may have dropped its mirror to save memory,
// so this is no failure.
var errResync = errors.New("the plugin asks for the whole history")

// ask makes a call: it sends what the plugin does not hold yet and receives the answer, with its parts.
func ask[M sdk.DensityMetadata | sdk.CompressMetadata, P any](
	c *ongoing, open func(wire.Call) (*wire.Stream[M, P], error),
) (answer wire.Result[M], parts []P, err error) {
	answer, parts, err = exchange(c, c.known.update(c.in, c.look), open)
	// At most once: the second request holds everything, so a plugin that asks again is at fault.
	if errors.Is(err, errResync) {
		c.plugin.traffic.resyncs.Add(1)
		answer, parts, err = exchange(c, held{}.update(c.in, c.look), open)
	}
	if err != nil {
		c.after = held{}
		return wire.Result[M]{}, nil, c.failed(err)
	}
	c.plugin.calls.misses.Store(0)
	return answer, parts, nil
}

// exchange sends the history, or what is new in it, and receives the answer. Sending ends before receiving begins: the
// plugin's SDK reads the whole history first, so neither side can block the other.
func exchange[M sdk.DensityMetadata | sdk.CompressMetadata, P any](
	c *ongoing, u update, open func(wire.Call) (*wire.Stream[M, P], error),
) (answer wire.Result[M], parts []P, err error) {
	stream, err := open(c.header(u))
	if err != nil {
		return answer, nil, err
	}
	c.plugin.traffic.count(u)
	err = stream.Send(u.pieces, entriesOf(u.entries, u.look))
	c.after = held{
		entries: c.in.Entries, count: uint64(len(c.in.Entries)), epoch: c.in.Epoch, digest: stream.Digest(),
		tools: c.in.Tools.JSON(),
	}
	c.plugin.traffic.bytes.Add(c.after.digest.Bytes - u.held.digest.Bytes)
	if err != nil {
		return answer, nil, err
	}
	if answer, err = stream.Result(); err != nil {
		return answer, nil, err
	}
	// A resync carries no parts. Draining ends the stream cleanly.
	if answer.Resync && len(u.held.entries) > 0 {
		return answer, nil, cmp.Or(stream.Drain(), errResync)
	}
	// Before any part is received: a wrong answer costs no memory.
	if err := checkResult(stream.Of(), answer, c.in); err != nil {
		return answer, nil, err
	}
	// Each part and block takes memory here, however few bytes it takes on the wire.
	most := c.plugin.opts.MaxAnswerBytes
	limits := wire.Limits{Count: int(answer.Parts), Message: most, Total: most, Charge: answerMemory(most)}
	parts, err = stream.Parts(limits, func(part P) error { return boundDepth(depth(part)) })
	if err == nil && answer.NoOp != "" && len(parts) > 0 {
		err = fmt.Errorf("%w: it reports a no-op but sends %d pieces", fault.ErrBadAnswer, len(parts))
	}
	return answer, parts, err
}

func (c *ongoing) header(u update) wire.Call {
	h := wire.Call{
		CallParams: c.in.CallParams, ID: c.id, Epoch: c.in.Epoch, Tools: c.in.Tools.JSON(),
		Held: u.held.count, Digest: u.held.digest, Pieces: len(u.pieces), Entries: len(u.entries),
	}
	if h.Held > 0 && bytes.Equal(u.held.tools, h.Tools) {
		h.Tools, h.SameTools = nil, true
	}
	return h
}

// answerExpansion is how many times its bytes on the wire an answer may take in memory. Only tiny blocks take much more
// than their bytes; 4 leaves room for those.
const answerExpansion = 4

func answerMemory(maxAnswerBytes int) func(bytes int) error {
	taken, most := 0, answerExpansion*maxAnswerBytes
	return func(bytes int) error {
		if taken += bytes; taken > most {
			return fmt.Errorf("%w: it takes more than %d MiB of memory", fault.ErrBadAnswer, most>>20)
		}
		return nil
	}
}
