package wire

import (
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// Result is the header of an answer, with the metadata of either call. The parts follow it: edits or pieces.
type Result[M contract.DensityMetadata | contract.CompressMetadata] struct {
	// Revision is that of the call.
	Revision uint64
	// Parts is how many parts follow.
	Parts uint64
	// Resync asks the host to send the whole history; nothing follows.
	Resync bool
	// NoOp is not empty if a Compress did nothing; no parts follow then.
	NoOp     contract.NoOpReason
	Metadata M
}

// toOptimizeResult makes the first message of the answer to an Optimize. NoOp has no place in it: an Optimize with
// nothing to do has no edits.
func toOptimizeResult(r Result[contract.DensityMetadata]) *threshv1.OptimizeResult {
	return &threshv1.OptimizeResult{
		Revision: r.Revision, Edits: r.Parts, Resync: r.Resync, Metadata: toDensityMetadata(r.Metadata),
	}
}

func fromOptimizeResult(r *threshv1.OptimizeResult) Result[contract.DensityMetadata] {
	return Result[contract.DensityMetadata]{
		Revision: r.GetRevision(), Parts: r.GetEdits(), Resync: r.GetResync(),
		Metadata: fromDensityMetadata(r.GetMetadata()),
	}
}

// toCompressResult makes the first message of the answer to a Compress.
func toCompressResult(r Result[contract.CompressMetadata]) *threshv1.CompressResult {
	return &threshv1.CompressResult{
		Revision: r.Revision, Pieces: r.Parts, Resync: r.Resync, NoopReason: validUTF8(string(r.NoOp)),
		Metadata: toCompressMetadata(r.Metadata),
	}
}

func fromCompressResult(r *threshv1.CompressResult) Result[contract.CompressMetadata] {
	return Result[contract.CompressMetadata]{
		Revision: r.GetRevision(), Parts: r.GetPieces(), Resync: r.GetResync(),
		NoOp: contract.NoOpReason(r.GetNoopReason()), Metadata: fromCompressMetadata(r.GetMetadata()),
	}
}

func toDensityMetadata(m contract.DensityMetadata) *threshv1.DensityMetadata {
	return &threshv1.DensityMetadata{
		ReadWritePairsPruned:     int64(m.ReadWritePairsPruned),
		FileDeduplicationsPruned: int64(m.FileDeduplicationsPruned),
		RecencyPruned:            int64(m.RecencyPruned),
	}
}

func fromDensityMetadata(m *threshv1.DensityMetadata) contract.DensityMetadata {
	return contract.DensityMetadata{
		ReadWritePairsPruned:     int(m.GetReadWritePairsPruned()),
		FileDeduplicationsPruned: int(m.GetFileDeduplicationsPruned()),
		RecencyPruned:            int(m.GetRecencyPruned()),
	}
}

// toCompressMetadata keeps the difference between a count of 0 and one that does not apply.
func toCompressMetadata(m contract.CompressMetadata) *threshv1.CompressMetadata {
	return &threshv1.CompressMetadata{
		LlmCallMade:      m.LLMCallMade,
		TopPreserved:     converted[int64](m.TopPreserved),
		BottomPreserved:  converted[int64](m.BottomPreserved),
		MiddleCompressed: converted[int64](m.MiddleCompressed),
		TargetMissed:     m.TargetMissed,
		Counts:           m.Counts,
	}
}

func fromCompressMetadata(m *threshv1.CompressMetadata) contract.CompressMetadata {
	if m == nil {
		return contract.CompressMetadata{}
	}
	return contract.CompressMetadata{
		LLMCallMade:      m.GetLlmCallMade(),
		TopPreserved:     converted[int](m.TopPreserved),
		BottomPreserved:  converted[int](m.BottomPreserved),
		MiddleCompressed: converted[int](m.MiddleCompressed),
		TargetMissed:     m.GetTargetMissed(),
		Counts:           m.GetCounts(),
	}
}

// converted converts a number that may be absent.
func converted[B, A int | int64](n *A) *B {
	if n == nil {
		return nil
	}
	return new(B(*n))
}
