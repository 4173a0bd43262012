package wire

import (
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk"
)

// Result is the header of an answer; edits or pieces follow it.
type Result[M sdk.DensityMetadata | sdk.CompressMetadata] struct {
	// Revision repeats the call's. The host refuses an answer to another revision of the history.
	Revision uint64
	// Parts is how many parts follow. SendEdits and SendPieces set it.
	Parts uint64
	// Resync asks the host to repeat the call with the whole history (Held 0); no parts follow.
	Resync bool
	// NoOp is set if a Compress did nothing. No parts follow: "nothing to do" differs from "replace the history by
	// nothing".
	NoOp     sdk.NoOpReason
	Metadata M
}

// toOptimizeResult has no place for NoOp: an Optimize with nothing to do has no edits.
func toOptimizeResult(r Result[sdk.DensityMetadata]) *threshv1.OptimizeResult {
	return &threshv1.OptimizeResult{
		Revision: r.Revision, Edits: r.Parts, Resync: r.Resync, Metadata: toDensityMetadata(r.Metadata),
	}
}

// fromOptimizeResult accepts nil; the caller checks for the header.
func fromOptimizeResult(r *threshv1.OptimizeResult) Result[sdk.DensityMetadata] {
	return Result[sdk.DensityMetadata]{
		Revision: r.GetRevision(), Parts: r.GetEdits(), Resync: r.GetResync(),
		Metadata: fromDensityMetadata(r.GetMetadata()),
	}
}

func toCompressResult(r Result[sdk.CompressMetadata]) *threshv1.CompressResult {
	return &threshv1.CompressResult{
		Revision: r.Revision, Pieces: r.Parts, Resync: r.Resync, NoopReason: validUTF8(string(r.NoOp)),
		Metadata: toCompressMetadata(r.Metadata),
	}
}

// fromCompressResult accepts nil. An unknown NoOp reason is reported as it came.
func fromCompressResult(r *threshv1.CompressResult) Result[sdk.CompressMetadata] {
	return Result[sdk.CompressMetadata]{
		Revision: r.GetRevision(), Parts: r.GetPieces(), Resync: r.GetResync(),
		NoOp: sdk.NoOpReason(r.GetNoopReason()), Metadata: fromCompressMetadata(r.GetMetadata()),
	}
}

func toDensityMetadata(m sdk.DensityMetadata) *threshv1.DensityMetadata {
	return &threshv1.DensityMetadata{
		ReadWritePairsPruned:     int64(m.ReadWritePairsPruned),
		FileDeduplicationsPruned: int64(m.FileDeduplicationsPruned),
		RecencyPruned:            int64(m.RecencyPruned),
	}
}

func fromDensityMetadata(m *threshv1.DensityMetadata) sdk.DensityMetadata {
	return sdk.DensityMetadata{
		ReadWritePairsPruned:     int(m.GetReadWritePairsPruned()),
		FileDeduplicationsPruned: int(m.GetFileDeduplicationsPruned()),
		RecencyPruned:            int(m.GetRecencyPruned()),
	}
}

// toCompressMetadata keeps nil counters nil: 0 differs from one that does not apply to the strategy.
func toCompressMetadata(m sdk.CompressMetadata) *threshv1.CompressMetadata {
	return &threshv1.CompressMetadata{
		LlmCallMade:      m.LLMCallMade,
		TopPreserved:     converted[int64](m.TopPreserved),
		BottomPreserved:  converted[int64](m.BottomPreserved),
		MiddleCompressed: converted[int64](m.MiddleCompressed),
		TargetMissed:     m.TargetMissed,
		Counts:           m.Counts,
	}
}

// fromCompressMetadata reads fields, because getters turn nil into 0.
func fromCompressMetadata(m *threshv1.CompressMetadata) sdk.CompressMetadata {
	if m == nil {
		return sdk.CompressMetadata{}
	}
	return sdk.CompressMetadata{
		LLMCallMade:      m.GetLlmCallMade(),
		TopPreserved:     converted[int](m.TopPreserved),
		BottomPreserved:  converted[int](m.BottomPreserved),
		MiddleCompressed: converted[int](m.MiddleCompressed),
		TargetMissed:     m.GetTargetMissed(),
		Counts:           m.GetCounts(),
	}
}

func converted[B, A int | int64](n *A) *B {
	if n == nil {
		return nil
	}
	return new(B(*n))
}
