package sdk

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/wire"
)

// Optimize serves one Optimize. gRPC calls it on a goroutine per call. The session's mirror is taken out for the call
// and put back only if the call succeeds: a mirror is a cache, and one whose state is in doubt is dropped. Errors are
// those of the strategy, of the protocol, and of an answer that is not one.
func (s *service) Optimize(stream threshv1.StrategyService_OptimizeServer) error {
	optimizer, ok := s.strategy.(Optimizer)
	if !ok {
		return status.Error(codes.Unimplemented, "the trigger of this strategy is THRESHOLD; it has no Optimize")
	}
	conf, err := s.ready()
	if err != nil {
		return err
	}
	// The header first. What this process holds decides how the rest is read.
	var m *mirror
	call, params, update, err := wire.ReceiveOptimize(stream, s.holds(&m))
	if err != nil {
		return err
	}
	answer := wire.Result[DensityMetadata]{Revision: call.Revision, Resync: update.Resync}
	if update.Resync {
		// The host sends everything with its next message; nothing was changed here.
		return wire.SendEdits(stream, answer, nil)
	}
	m, err = s.updated(m, call, update)
	if err != nil {
		return err
	}
	// The strategy gets the mirror itself: a copy would cost the history at each turn. See [mirror.untouched].
	history := m.view()
	in := OptimizeInput{OptimizeParams: params}
	if in.Call, err = s.call(call, conf, m, history.entries); err != nil {
		return err
	}
	// What the strategy remembered after its last call, if the edits that it asked for were applied as they were.
	m.prepareMemo(memoKey{in.WorkspaceRoot, in.Config, in.Tools, params.Density}, &in)
	result, err := optimizer.Optimize(stream.Context(), in)
	if ctxErr := stream.Context().Err(); ctxErr != nil {
		return ctxErr // the host does not wait any more
	}
	if err != nil {
		return err
	}
	if err := m.untouched(); err != nil {
		return err
	}
	// Positions are found by the entries' origin, so that authors never handle them.
	edits, err := rewrite.Edits(history.entries, result.Removals, result.Replacements, result.Reasons)
	if err != nil {
		return err
	}
	m.settleMemo(edits)
	s.mirrors.keep(m) // before the answer: the next call may follow at once
	answer.Metadata = result.Metadata
	return wire.SendEdits(stream, answer, edits)
}
