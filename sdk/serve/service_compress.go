package serve

import (
	"fmt"
	"github.com/thresh-dev/thresh/sdk"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/wire"
)

// Compress is like [service.Optimize], with the host's services and a copy of the history, which the strategy may
// change.
func (s *service) Compress(stream threshv1.StrategyService_CompressServer) error {
	conf, err := s.ready()
	if err != nil {
		return err
	}
	var m *mirror
	call, params, update, err := wire.ReceiveCompress(stream, s.holds(&m))
	if err != nil {
		return err
	}
	answer := wire.Result[sdk.CompressMetadata]{Revision: call.Revision, Resync: update.Resync}
	if update.Resync {
		return wire.SendPieces(stream, answer, nil)
	}
	m, err = s.updated(m, call, update)
	if err != nil {
		return err
	}
	history := m.view()
	in := sdk.CompressInput{CompressParams: params, TokensIn: history.tokens}
	if in.Call, err = s.call(call, conf, m, history.copied()); err != nil {
		return err
	}
	host := &boundHost{conn: conf.host, call: stream.Context(), id: call.ID, history: history}
	result, err := s.strategy.Compress(stream.Context(), host, in)
	if ctxErr := stream.Context().Err(); ctxErr != nil {
		return ctxErr // the host no longer waits
	}
	if err != nil {
		return err
	}
	if err := checkResult(result); err != nil {
		return err
	}
	pieces := rewrite.Pieces(history.entries, result.History)
	s.mirrors.keep(m) // before the answer: the next call may follow at once
	answer.NoOp, answer.Metadata = result.NoOp, result.Metadata
	return wire.SendPieces(stream, answer, pieces)
}

// checkResult refuses a result that is neither a history nor a no-op, most likely a forgotten return value, and one
// that is both. The host would report both less clearly.
func checkResult(r sdk.CompressResult) error {
	switch {
	case r.NoOp == "" && len(r.History) == 0:
		return fmt.Errorf("%w: Compress returned no history; use sdk.Applied with at least one entry, "+
			"or sdk.NoOp with a reason", rewrite.ErrBadResult)
	case r.NoOp != "" && len(r.History) > 0:
		return fmt.Errorf("%w: Compress returned a history and the no-op reason %q; return one of them",
			rewrite.ErrBadResult, r.NoOp)
	}
	return nil
}
