package sdk

import (
	"errors"
	"fmt"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/wire"
)

func (s *service) Compress(stream threshv1.StrategyService_CompressServer) error {
	conf, err := s.ready()
	if err != nil {
		return err
	}
	header, history, err := receive(stream.Recv, func(r *threshv1.CompressRequest) any { return r.GetPart() })
	call := header.GetCall()
	switch {
	case errors.Is(err, errResync):
		return stream.Send(compressHeader(&threshv1.CompressResult{Revision: call.GetRevision(), Resync: true}))
	case err != nil:
		return err
	}
	in := compressInput(header)
	in.TokensIn = history.tokens
	if in.Call, err = s.call(call, conf, history); err != nil {
		return err
	}
	host := &boundHost{conn: conf.host, call: stream.Context(), id: call.GetCallId(), history: history}
	result, err := s.strategy.Compress(stream.Context(), host, in)
	if ctxErr := stream.Context().Err(); ctxErr != nil {
		return ctxErr // nobody waits any more
	}
	if err != nil {
		return err
	}
	if err := checkResult(result); err != nil {
		return err
	}
	return sendPieces(stream, call.GetRevision(), history, result)
}

// checkResult refuses what is neither a history nor a no-op, most likely a forgotten return value.
func checkResult(r CompressResult) error {
	switch {
	case r.NoOp == "" && len(r.History) == 0:
		return fmt.Errorf("%w: Compress returned no history; use sdk.Applied with at least one entry, or sdk.NoOp with a reason", wire.ErrBadResult)
	case r.NoOp != "" && len(r.History) > 0:
		return fmt.Errorf("%w: Compress returned a history and the no-op reason %q; return one of them", wire.ErrBadResult, r.NoOp)
	}
	return nil
}

func sendPieces(stream threshv1.StrategyService_CompressServer, revision uint64, history *history, result CompressResult) error {
	pieces := wire.Pieces(history.was, result.History)
	err := stream.Send(compressHeader(&threshv1.CompressResult{
		Revision:   revision,
		NoopReason: string(result.NoOp),
		Metadata:   compressMetadata(result.Metadata),
		Pieces:     uint64(len(pieces)),
	}))
	if err != nil {
		return err
	}
	w := wire.NewWriter(func(chunk []byte) error {
		return stream.Send(&threshv1.CompressResponse{Part: &threshv1.CompressResponse_Chunk{Chunk: chunk}})
	})
	for i, p := range pieces {
		if err := w.Piece(p); err != nil {
			return fmt.Errorf("part %d of the new history: %w", i, err)
		}
	}
	return w.Flush()
}

func compressHeader(r *threshv1.CompressResult) *threshv1.CompressResponse {
	return &threshv1.CompressResponse{Part: &threshv1.CompressResponse_Header{Header: r}}
}

func compressInput(h *threshv1.CompressHeader) CompressInput {
	return CompressInput{
		CurrentTokens:        int(h.GetCurrentTokens()),
		PendingTokens:        int(h.GetPendingTokens()),
		ContextLimit:         int(h.GetContextLimit()),
		CompletionBudget:     int(h.GetCompletionBudget()),
		Threshold:            h.GetThreshold(),
		PreserveThreshold:    h.GetPreserveThreshold(),
		TopPreserveThreshold: h.GetTopPreserveThreshold(),
		Reason:               compressReason(h.GetReason()),
		Todos:                todos(h.GetActiveTodos()),
		TranscriptPath:       h.GetTranscriptPath(),
		Profile:              h.GetProfile(),
		Model:                model(h.GetModel()),
		UserMessageBudget:    int(h.GetUserMessageBudget()),
		Verification:         h.GetVerification(),
	}
}

func model(m *threshv1.Model) *Model {
	if m == nil {
		return nil
	}
	return &Model{Name: m.GetName(), ContextLimit: int(m.GetContextLimit()), MaxOutput: int(m.GetMaxOutput())}
}

func compressReason(r threshv1.CompressReason) CompressReason {
	switch r {
	case threshv1.CompressReason_COMPRESS_REASON_HARD_LIMIT:
		return ReasonHardLimit
	case threshv1.CompressReason_COMPRESS_REASON_MANUAL:
		return ReasonManual
	}
	return ReasonThreshold
}

func todos(in []*threshv1.Todo) []Todo {
	if len(in) == 0 {
		return nil
	}
	out := make([]Todo, len(in))
	for i, t := range in {
		out[i] = Todo{ID: t.GetId(), Content: t.GetContent(), Status: t.GetStatus(), Subtasks: todos(t.GetSubtasks())}
	}
	return out
}

func compressMetadata(m CompressMetadata) *threshv1.CompressMetadata {
	return &threshv1.CompressMetadata{
		LlmCallMade:      m.LLMCallMade,
		TopPreserved:     int64Ptr(m.TopPreserved),
		BottomPreserved:  int64Ptr(m.BottomPreserved),
		MiddleCompressed: int64Ptr(m.MiddleCompressed),
		TargetMissed:     m.TargetMissed,
		Counts:           m.Counts,
	}
}

func int64Ptr(n *int) *int64 {
	if n == nil {
		return nil
	}
	v := int64(*n)
	return &v
}
