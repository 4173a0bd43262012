package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk"
)

// Call is what [OptimizeCall] and [CompressCall] have in common.
type Call struct {
	SessionID string
	// Revision is the history's; Epoch changes whenever the host rewrote the history.
	Revision, Epoch uint64
	// Entries are only read, and only until the call returns.
	Entries []*history.Entry
	// WorkspaceRoot is absolute; relative paths in tool parameters are resolved against it (REQ-HD-005.11).
	WorkspaceRoot string
	// Tools is the tool taxonomy in force, as JSON.
	Tools []byte
	// Config holds the strategy's settings for this session, from [Strategy.Config]; nil: those of [Options].
	Config json.RawMessage
}

// OptimizeCall is what [Strategy.Optimize] sends.
type OptimizeCall struct {
	Call
	Density sdk.DensityConfig
}

// OptimizeAnswer is what a strategy wants to be pruned. Whether the edits fit the history is not checked here.
type OptimizeAnswer struct {
	Edits    []rewrite.Edit
	Metadata sdk.DensityMetadata
	// Duration is the time of the whole call, the start of a process not included.
	Duration time.Duration
}

// Optimize asks a continuous strategy what to prune (REQ-HD-002). It returns an [*Error], or ctx's error inside of one.
//
// It changes nothing, so a crash of the process is no reason to give up at once: the call is made once more, on a fresh one.
func (s *Strategy) Optimize(ctx context.Context, in OptimizeCall) (OptimizeAnswer, error) {
	answer, err := s.optimize(ctx, in)
	if errors.Is(err, ErrPluginCrashed) && ctx.Err() == nil {
		s.manager.opts.Logger.Named("plugin").Warn("the plugin's process ended during Optimize, trying once more", "strategy", s.name)
		answer, err = s.optimize(ctx, in)
	}
	return answer, err
}

func (s *Strategy) optimize(ctx context.Context, in OptimizeCall) (OptimizeAnswer, error) {
	p, err := s.acquire(ctx)
	if err != nil {
		return OptimizeAnswer{}, err
	}
	defer p.release()
	if p.info.Trigger.Mode != sdk.ModeContinuous {
		return OptimizeAnswer{}, p.failure(OpOptimize, ErrNotContinuous, "")
	}
	if in.Config == nil {
		in.Config = p.config
	}
	start := time.Now()
	call, ctx, done := p.begin(ctx, OpOptimize, p.opts.OptimizeTimeout)
	defer done()
	answer, err := p.optimize(ctx, call.id, in)
	if err != nil {
		return OptimizeAnswer{}, call.failed(ctx, err)
	}
	p.misses.Store(0)
	answer.Duration = time.Since(start)
	return answer, nil
}

func (p *process) optimize(ctx context.Context, id string, in OptimizeCall) (OptimizeAnswer, error) {
	stream, err := p.strategy.Optimize(ctx)
	if err != nil {
		return OptimizeAnswer{}, err
	}
	err = send(
		func() error {
			return stream.Send(&threshv1.OptimizeRequest{Part: &threshv1.OptimizeRequest_Header{Header: optimizeHeader(id, in)}})
		},
		func() error {
			return sendEntries(in.Entries, func(chunk []byte) error {
				return stream.Send(&threshv1.OptimizeRequest{Part: &threshv1.OptimizeRequest_Chunk{Chunk: chunk}})
			})
		},
		stream.CloseSend,
	)
	if err != nil {
		return OptimizeAnswer{}, err
	}
	first, err := stream.Recv()
	if err != nil {
		return OptimizeAnswer{}, noHeader(err)
	}
	header := first.GetHeader()
	if err := checkHeader(in.Call, header != nil, header.GetRevision(), header.GetResync()); err != nil {
		return OptimizeAnswer{}, err
	}
	limits, err := p.limits("edit", header.GetEdits(), len(in.Entries))
	if err != nil {
		return OptimizeAnswer{}, err
	}
	edits, err := wire.ReadAll(func() ([]byte, error) {
		m, err := stream.Recv()
		if err == nil && m.GetHeader() != nil {
			err = errSecondHeader
		}
		return m.GetChunk(), err
	}, limits, bounded(wire.DecodeEdit, editDepth, p.opts.MaxJSONDepth))
	if err != nil {
		return OptimizeAnswer{}, err
	}
	return OptimizeAnswer{Edits: edits, Metadata: densityMetadata(header.GetMetadata())}, nil
}

// CompressCall is what [Strategy.Compress] sends. The fields mean what they mean in [sdk.CompressInput].
type CompressCall struct {
	Call
	CurrentTokens, PendingTokens            int
	ContextLimit, CompletionBudget          int
	Threshold                               float64
	PreserveThreshold, TopPreserveThreshold float64
	Reason                                  sdk.CompressReason
	Todos                                   []sdk.Todo
	TranscriptPath                          string
	Profile                                 string
	Model                                   *sdk.Model
	UserMessageBudget                       int
	Verification                            bool
}

// CompressAnswer is a compressed history, or the reason why there is none. Whether the pieces fit the history is not
// checked here.
type CompressAnswer struct {
	// NoOp is not empty if nothing was done.
	NoOp     sdk.NoOpReason
	Pieces   []rewrite.Piece
	Metadata sdk.CompressMetadata
	// Duration is the time of the whole call, the start of a process not included.
	Duration time.Duration
}

// Compress asks a strategy for a smaller history (REQ-HD-008). While it runs, the plugin can use services (nil: none);
// what it asks gets a context that ends with the call. It returns an [*Error], or ctx's error inside of one.
//
// It may have cost money already when the process crashes, so it is not made again unasked: the error is Retryable.
func (s *Strategy) Compress(ctx context.Context, in CompressCall, services sdk.Host) (CompressAnswer, error) {
	p, err := s.acquire(ctx)
	if err != nil {
		return CompressAnswer{}, err
	}
	defer p.release()
	if in.Config == nil {
		in.Config = p.config
	}
	start := time.Now()
	call, ctx, done := p.begin(ctx, OpCompress, p.opts.CompressTimeout)
	defer done()
	defer p.services.open(call.id, &serviceCall{ctx: ctx, host: services, mayGenerate: p.info.RequiresLLM})()
	answer, err := p.compress(ctx, call.id, in)
	if err != nil {
		return CompressAnswer{}, call.failed(ctx, err)
	}
	p.misses.Store(0)
	answer.Duration = time.Since(start)
	return answer, nil
}

func (p *process) compress(ctx context.Context, id string, in CompressCall) (CompressAnswer, error) {
	stream, err := p.strategy.Compress(ctx)
	if err != nil {
		return CompressAnswer{}, err
	}
	err = send(
		func() error {
			return stream.Send(&threshv1.CompressRequest{Part: &threshv1.CompressRequest_Header{Header: compressHeader(id, in)}})
		},
		func() error {
			return sendEntries(in.Entries, func(chunk []byte) error {
				return stream.Send(&threshv1.CompressRequest{Part: &threshv1.CompressRequest_Chunk{Chunk: chunk}})
			})
		},
		stream.CloseSend,
	)
	if err != nil {
		return CompressAnswer{}, err
	}
	first, err := stream.Recv()
	if err != nil {
		return CompressAnswer{}, noHeader(err)
	}
	header := first.GetHeader()
	if err := checkHeader(in.Call, header != nil, header.GetRevision(), header.GetResync()); err != nil {
		return CompressAnswer{}, err
	}
	limits, err := p.limits("piece", header.GetPieces(), len(in.Entries))
	if err != nil {
		return CompressAnswer{}, err
	}
	pieces, err := wire.ReadAll(func() ([]byte, error) {
		m, err := stream.Recv()
		if err == nil && m.GetHeader() != nil {
			err = errSecondHeader
		}
		return m.GetChunk(), err
	}, limits, bounded(wire.DecodePiece, pieceDepth, p.opts.MaxJSONDepth))
	if err != nil {
		return CompressAnswer{}, err
	}
	noop := header.GetNoopReason()
	if noop != "" && len(pieces) > 0 {
		return CompressAnswer{}, fmt.Errorf("%w: it says that there is nothing to do, and sends %d pieces", ErrBadAnswer, len(pieces))
	}
	return CompressAnswer{
		NoOp:     sdk.NoOpReason(printable(noop, maxMessage)),
		Pieces:   pieces,
		Metadata: compressMetadata(header.GetMetadata()),
	}, nil
}
