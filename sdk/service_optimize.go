package sdk

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/wire"
)

// Optimize serves one Optimize. gRPC calls it on a goroutine per call.
func (s *service) Optimize(stream threshv1.StrategyService_OptimizeServer) error {
	optimizer, ok := s.strategy.(Optimizer)
	if !ok {
		return status.Error(codes.Unimplemented, "the trigger of this strategy is THRESHOLD; it has no Optimize")
	}
	conf, err := s.ready()
	if err != nil {
		return err
	}
	call, params, entries, err := wire.ReceiveOptimize(stream)
	if err != nil {
		return err
	}
	answer := wire.Result[DensityMetadata]{Revision: call.Revision}
	if call.Held > 0 { // nothing is held between calls: the host is asked for the whole history
		answer.Resync = true
		return wire.SendEdits(stream, answer, nil)
	}
	history := newHistory(entries)
	in := OptimizeInput{OptimizeParams: params}
	if in.Call, err = s.call(call, conf, history); err != nil {
		return err
	}
	given := in.History
	result, err := optimizer.Optimize(stream.Context(), in)
	if ctxErr := stream.Context().Err(); ctxErr != nil {
		return ctxErr // the host does not wait any more
	}
	if err != nil {
		return err
	}
	if err := history.untouched(given); err != nil {
		return err
	}
	edits, err := rewrite.Edits(history.was, result.Removals, result.Replacements, result.Reasons)
	if err != nil {
		return err
	}
	answer.Metadata = result.Metadata
	return wire.SendEdits(stream, answer, edits)
}
