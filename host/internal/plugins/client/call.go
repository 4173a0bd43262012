package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	a, err := ask(ctx, p, fault.OpOptimize, p.opts.OptimizeTimeout, in.Call, nil, editDepth,
		func(ctx context.Context, c wire.Call) (*wire.Stream[sdk.DensityMetadata, rewrite.Edit], error) {
			return wire.OpenOptimize(ctx, p.remote.strategy, c, in.OptimizeParams)
		})
	return prepare.OptimizeAnswer{Edits: a.parts, Metadata: a.header.Metadata}, err
}

// Compress asks a strategy for a smaller history. While it runs, the plugin can use services (nil: none); what it asks
// gets a context that ends with the call. It returns a [*fault.Error], or one around ctx's error.
func (p *Plugin) Compress(
	ctx context.Context, in prepare.CompressCall, services sdk.Host,
) (prepare.CompressAnswer, error) {
	serve := func(ctx context.Context, id string) (stop func()) {
		return p.remote.services.open(
			id, &serviceCall{ctx: ctx, host: services, mayGenerate: p.reported.info.RequiresLLM},
		)
	}
	a, err := ask(ctx, p, fault.OpCompress, p.opts.CompressTimeout, in.Call, serve, pieceDepth,
		func(ctx context.Context, c wire.Call) (*wire.Stream[sdk.CompressMetadata, rewrite.Piece], error) {
			return wire.OpenCompress(ctx, p.remote.strategy, c, in.CompressParams)
		})
	return prepare.CompressAnswer{
		NoOp:     sdk.NoOpReason(text.Printable(string(a.header.NoOp), maxMessage)),
		Pieces:   a.parts,
		Metadata: a.header.Metadata,
	}, err
}

type answer[M sdk.DensityMetadata | sdk.CompressMetadata, P any] struct {
	header wire.Result[M]
	parts  []P
	digest wire.Digest // of what the plugin holds now
}

// errResync is returned by exchange when the plugin does not hold what the call built on. It may have dropped its
// mirror to save memory, so this is no failure.
var errResync = errors.New("the plugin asks for the whole history")

// ask makes one call. depth measures how deeply the JSON of a part is nested; too deep parts are refused. serve, if not
// nil, lets the plugin use the host's services until the call ends. The request's id is unique per host process, so a
// late question of an earlier call is not mistaken for one of this call.
func ask[M sdk.DensityMetadata | sdk.CompressMetadata, P any](
	caller context.Context, p *Plugin, op fault.Op, timeout time.Duration, in prepare.Call,
	serve func(ctx context.Context, id string) (stop func()), depth func(P) int,
	open func(context.Context, wire.Call) (*wire.Stream[M, P], error),
) (answer[M, P], error) {
	// The time for sending counts: a plugin that does not read must not hold the call up.
	call, ctx, done := p.begin(caller, op, timeout)
	defer done()
	if serve != nil {
		defer serve(ctx, call.id)()
	}
	if in.Config == nil {
		in.Config = p.config
	}
	var known, after held
	if p.Mirrors() {
		var u *use
		known, u = p.sessions.take(in.SessionID)
		defer func() { p.done(in.SessionID, u, after) }()
	}
	send := func(u update) (a answer[M, P], err error) {
		c := wire.Call{
			CallParams: in.CallParams, ID: call.id, Epoch: in.Epoch, Tools: in.Tools.JSON(),
			Held: u.held.count, Digest: u.held.digest, Pieces: len(u.pieces), Entries: len(u.entries),
		}
		if c.Held > 0 && bytes.Equal(u.held.tools, c.Tools) {
			c.Tools, c.SameTools = nil, true
		}
		stream, err := open(ctx, c)
		if err != nil {
			return a, err
		}
		p.traffic.count(u)
		a, err = exchange(stream, p.opts.MaxAnswerBytes, in, u, depth)
		a.digest = stream.Digest()
		p.traffic.bytes.Add(a.digest.Bytes - u.held.digest.Bytes)
		return a, err
	}
	look := p.looksFor(in)
	a, err := send(known.update(in, look))
	// At most once: the second request holds everything, so a plugin that asks again is at fault.
	if errors.Is(err, errResync) {
		p.traffic.resyncs.Add(1)
		a, err = send(held{}.update(in, look))
	}
	if err != nil {
		return answer[M, P]{}, call.failed(ctx, err)
	}
	after = held{
		entries: in.Entries, count: uint64(len(in.Entries)), epoch: in.Epoch, digest: a.digest, tools: in.Tools.JSON(),
	}
	p.calls.misses.Store(0)
	return a, nil
}

// exchange sends the history, or what is new in it, and receives the answer. Sending ends before receiving begins: the
// plugin's SDK reads the whole history first, so neither side can block the other.
func exchange[M sdk.DensityMetadata | sdk.CompressMetadata, P any](
	stream *wire.Stream[M, P], maxBytes int, in prepare.Call, u update, depth func(P) int,
) (a answer[M, P], err error) {
	if err := stream.Send(u.pieces, entriesOf(u.entries, u.look)); err != nil {
		return a, err
	}
	if a.header, err = stream.Result(); err != nil {
		return a, err
	}
	// A resync carries no parts. Draining ends the stream cleanly.
	if a.header.Resync && len(u.held.entries) > 0 {
		if err := stream.Drain(); err != nil {
			return a, err
		}
		return a, errResync
	}
	// Before any part is received: a wrong answer costs no memory.
	if err := checkResult(stream.Of(), a.header, in); err != nil {
		return a, err
	}
	// Each part and block takes memory here, however few bytes it takes on the wire.
	limits := wire.Limits{
		Count: int(a.header.Parts), Message: maxBytes, Total: maxBytes,
		Charge: answerMemory(maxBytes),
	}
	a.parts, err = stream.Parts(limits, func(part P) error { return boundDepth(depth(part)) })
	if err != nil {
		return a, err
	}
	if a.header.NoOp != "" && len(a.parts) > 0 {
		err = fmt.Errorf("%w: it reports a no-op but sends %d pieces", fault.ErrBadAnswer, len(a.parts))
	}
	return a, err
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
