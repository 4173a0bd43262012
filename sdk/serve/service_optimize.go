package serve

import (
	"github.com/thresh-dev/thresh/sdk"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/wire"
)

// Optimize takes the session's mirror and puts it back only if the call succeeds: a mirror is a cache, and one whose
// state is in doubt is dropped.
func (s *service) Optimize(stream threshv1.StrategyService_OptimizeServer) error {
	optimizer, ok := s.strategy.(sdk.Optimizer)
	if !ok {
		return status.Error(codes.Unimplemented, "the trigger of this strategy is THRESHOLD; it has no Optimize")
	}
	conf, err := s.ready()
	if err != nil {
		return err
	}
	var m *mirror
	call, params, update, err := wire.ReceiveOptimize(stream, s.holds(&m))
	if err != nil {
		return err
	}
	answer := wire.Result[sdk.DensityMetadata]{Revision: call.Revision, Resync: update.Resync}
	if update.Resync {
		return wire.SendEdits(stream, answer, nil)
	}
	m, err = s.updated(m, call, update)
	if err != nil {
		return err
	}
	// The strategy gets the mirror itself: a copy would cost the whole history at each turn. See [mirror.untouched].
	history := m.view()
	in := sdk.OptimizeInput{OptimizeParams: params}
	if in.Call, err = s.call(call, conf, m, history.entries); err != nil {
		return err
	}
	m.prepareMemo(memoKey{in.WorkspaceRoot, in.Config, in.Tools, params.Density}, &in)
	result, err := optimizer.Optimize(stream.Context(), in)
	if ctxErr := stream.Context().Err(); ctxErr != nil {
		return ctxErr // the host no longer waits
	}
	if err != nil {
		return err
	}
	if err := m.untouched(); err != nil {
		return err
	}
	edits, err := rewrite.Edits(history.entries, result.Removals, result.Replacements, result.Reasons)
	if err != nil {
		return err
	}
	m.settleMemo(edits)
	s.mirrors.keep(m) // before the answer: the next call may follow at once
	answer.Metadata = result.Metadata
	return wire.SendEdits(stream, answer, edits)
}
