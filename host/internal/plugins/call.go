package plugins

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk/contract"
)

var _ prepare.Strategy = (*Strategy)(nil)

// Optimize asks a continuous strategy what to prune (REQ-HD-002). It returns an [*Error], or ctx's error inside of one.
//
// It changes nothing, so a crash of the process is no reason to give up at once: the call is made once more, on a fresh one.
func (s *Strategy) Optimize(ctx context.Context, in prepare.OptimizeCall) (prepare.OptimizeAnswer, error) {
	answer, err := s.optimize(ctx, in)
	if errors.Is(err, ErrPluginCrashed) && ctx.Err() == nil {
		s.manager.opts.Logger.Named("plugin").Warn("the plugin process crashed in Optimize, trying once more", "strategy", s.name)
		answer, err = s.optimize(ctx, in)
	}
	return answer, err
}

func (s *Strategy) optimize(ctx context.Context, in prepare.OptimizeCall) (prepare.OptimizeAnswer, error) {
	p, err := s.acquire(ctx)
	if err != nil {
		return prepare.OptimizeAnswer{}, err
	}
	defer p.release()
	if p.info.Trigger.Mode != contract.ModeContinuous {
		return prepare.OptimizeAnswer{}, p.failure(OpOptimize, ErrNotContinuous, "")
	}
	a, err := ask(ctx, p, OpOptimize, p.opts.OptimizeTimeout, in.Call, nil, editDepth,
		func(ctx context.Context, c wire.Call) (*wire.Stream[contract.DensityMetadata, rewrite.Edit], error) {
			return wire.OpenOptimize(ctx, p.strategy, c, in.OptimizeParams)
		})
	return prepare.OptimizeAnswer{Edits: a.parts, Metadata: a.header.Metadata, Duration: a.took}, err
}

// Compress asks a strategy for a smaller history (REQ-HD-008). While it runs, the plugin can use services (nil: none);
// what it asks gets a context that ends with the call. It returns an [*Error], or ctx's error inside of one.
//
// It may have cost money already when the process crashes, so it is not made again unasked: the error is Retryable.
func (s *Strategy) Compress(
	ctx context.Context, in prepare.CompressCall, services contract.Host,
) (prepare.CompressAnswer, error) {
	p, err := s.acquire(ctx)
	if err != nil {
		return prepare.CompressAnswer{}, err
	}
	defer p.release()
	serve := func(ctx context.Context, id string) (stop func()) {
		return p.services.open(id, &serviceCall{ctx: ctx, host: services, mayGenerate: p.info.RequiresLLM})
	}
	a, err := ask(ctx, p, OpCompress, p.opts.CompressTimeout, in.Call, serve, pieceDepth,
		func(ctx context.Context, c wire.Call) (*wire.Stream[contract.CompressMetadata, rewrite.Piece], error) {
			return wire.OpenCompress(ctx, p.strategy, c, in.CompressParams)
		})
	return prepare.CompressAnswer{
		NoOp:     contract.NoOpReason(text.Printable(string(a.header.NoOp), maxMessage)),
		Pieces:   a.parts,
		Metadata: a.header.Metadata,
		Duration: a.took,
	}, err
}

// answer is what came of a call: the metadata M and the parts P.
type answer[M contract.DensityMetadata | contract.CompressMetadata, P any] struct {
	header wire.Result[M]
	parts  []P
	took   time.Duration // without the start of a process
}

// ask makes one call, from the header of the request to the last part of the answer. It has a part refused whose JSON is
// nested too deep, as depth measures it. serve, if not nil, lets the plugin use the host's services until the call ends.
func ask[M contract.DensityMetadata | contract.CompressMetadata, P any](
	caller context.Context, p *process, op Op, timeout time.Duration, in prepare.Call,
	serve func(ctx context.Context, id string) (stop func()), depth func(P) int,
	open func(context.Context, wire.Call) (*wire.Stream[M, P], error),
) (answer[M, P], error) {
	start := time.Now()
	call, ctx, done := p.begin(caller, op, timeout)
	defer done()
	if serve != nil {
		defer serve(ctx, call.id)()
	}
	if in.Config == nil {
		in.Config = p.config
	}
	stream, err := open(ctx, wire.Call{
		CallParams: in.CallParams, ID: call.id, Epoch: in.Epoch, Entries: len(in.Entries), Tools: in.Tools,
	})
	if err != nil {
		return answer[M, P]{}, call.failed(ctx, err)
	}
	a, err := exchange(stream, p.opts, in, depth)
	if err != nil {
		return answer[M, P]{}, call.failed(ctx, err)
	}
	p.misses.Store(0)
	a.took = time.Since(start)
	return a, nil
}

// exchange sends the history and receives the answer.
func exchange[M contract.DensityMetadata | contract.CompressMetadata, P any](
	stream *wire.Stream[M, P], opts *Options, in prepare.Call, depth func(P) int,
) (a answer[M, P], err error) {
	if err := stream.Send(entriesOf(in.Entries)); err != nil {
		return a, err
	}
	if a.header, err = stream.Result(); err != nil {
		return a, err
	}
	if err := checkResult(stream.Of(), a.header, in); err != nil {
		return a, err
	}
	// Each part takes memory here, however few bytes it takes on the wire: limits are for both.
	limits := wire.Limits{Count: int(a.header.Parts), Message: opts.MaxAnswerBytes, Total: opts.MaxAnswerBytes}
	a.parts, err = stream.Parts(limits, func(part P) error { return boundDepth(depth(part), opts.MaxJSONDepth) })
	if err != nil {
		return a, err
	}
	if a.header.NoOp != "" && len(a.parts) > 0 {
		err = fmt.Errorf("%w: it says that there is nothing to do, and sends %d pieces", ErrBadAnswer, len(a.parts))
	}
	return a, err
}
