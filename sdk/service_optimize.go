package sdk

import (
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/wire"
)

func (s *service) Optimize(stream threshv1.StrategyService_OptimizeServer) error {
	optimizer, ok := s.strategy.(Optimizer)
	if !ok {
		return status.Error(codes.Unimplemented, "the trigger of this strategy is THRESHOLD; it has no Optimize")
	}
	conf, err := s.ready()
	if err != nil {
		return err
	}
	header, history, err := receive(stream.Recv, func(r *threshv1.OptimizeRequest) any { return r.GetPart() })
	call := header.GetCall()
	switch {
	case errors.Is(err, errResync):
		return stream.Send(optimizeHeader(&threshv1.OptimizeResult{Revision: call.GetRevision(), Resync: true}))
	case err != nil:
		return err
	}
	in := OptimizeInput{Density: densityConfig(header.GetDensity())}
	if in.Call, err = s.call(call, conf, history); err != nil {
		return err
	}
	given := in.History
	result, err := optimizer.Optimize(stream.Context(), in)
	if ctxErr := stream.Context().Err(); ctxErr != nil {
		return ctxErr // nobody waits any more
	}
	if err != nil {
		return err
	}
	if err := history.untouched(given); err != nil {
		return err
	}
	edits, err := wire.Edits(history.was, result.Removals, result.Replacements, reasons(result.Reasons))
	if err != nil {
		return err
	}
	return sendEdits(stream, call.GetRevision(), edits, result.Metadata)
}

func reasons(given map[int]Reason) map[int]wire.Reason {
	out := make(map[int]wire.Reason, len(given))
	for i, r := range given {
		out[i] = wire.Reason(r)
	}
	return out
}

func sendEdits(stream threshv1.StrategyService_OptimizeServer, revision uint64, edits []wire.Edit, m DensityMetadata) error {
	err := stream.Send(optimizeHeader(&threshv1.OptimizeResult{
		Revision: revision,
		Edits:    uint64(len(edits)),
		Metadata: &threshv1.DensityMetadata{
			ReadWritePairsPruned:     int64(m.ReadWritePairsPruned),
			FileDeduplicationsPruned: int64(m.FileDeduplicationsPruned),
			RecencyPruned:            int64(m.RecencyPruned),
		},
	}))
	if err != nil {
		return err
	}
	w := wire.NewWriter(func(chunk []byte) error {
		return stream.Send(&threshv1.OptimizeResponse{Part: &threshv1.OptimizeResponse_Chunk{Chunk: chunk}})
	})
	for _, e := range edits {
		if err := w.Edit(e); err != nil {
			return fmt.Errorf("replacement of entry %d: %w", e.Index, err)
		}
	}
	return w.Flush()
}

func optimizeHeader(r *threshv1.OptimizeResult) *threshv1.OptimizeResponse {
	return &threshv1.OptimizeResponse{Part: &threshv1.OptimizeResponse_Header{Header: r}}
}

func densityConfig(d *threshv1.DensityConfig) DensityConfig {
	c := DensityConfig{
		ReadWritePruning: d.GetReadWritePruning(),
		FileDedupe:       d.GetFileDedupe(),
		RecencyPruning:   d.GetRecencyPruning(),
		RecencyRetention: int(d.GetRecencyRetention()),
		PartialWrites:    PartialWritesPrune,
	}
	if d.GetPartialWrites() == threshv1.PartialWrites_PARTIAL_WRITES_KEEP {
		c.PartialWrites = PartialWritesKeep
	}
	return c
}
