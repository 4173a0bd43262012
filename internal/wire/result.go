package wire

import (
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// Result is the header of an answer, with the metadata M of its kind of call. The parts follow it: edits or pieces.
type Result[M contract.DensityMetadata | contract.CompressMetadata] struct {
	// Revision repeats that of the call. The host refuses an answer to another revision of the history.
	Revision uint64
	// Parts is how many parts follow. SendEdits and SendPieces set it from the parts they get.
	Parts uint64
	// Resync asks the host to repeat the call with the whole history (Held 0); no parts follow.
	Resync bool
	// NoOp is not empty if a Compress did nothing. No parts follow then, which keeps "nothing to do" apart from
	// "replace the history by nothing".
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

// fromOptimizeResult accepts nil, which is what a message without a header has. The caller checks for the header.
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

// fromCompressResult accepts nil, as fromOptimizeResult does. NoOp may be a reason that this version does not know; it
// is reported as it came.
func fromCompressResult(r *threshv1.CompressResult) Result[contract.CompressMetadata] {
	return Result[contract.CompressMetadata]{
		Revision: r.GetRevision(), Parts: r.GetPieces(), Resync: r.GetResync(),
		NoOp: contract.NoOpReason(r.GetNoopReason()), Metadata: fromCompressMetadata(r.GetMetadata()),
	}
}

// toDensityMetadata and fromDensityMetadata convert the counters of an Optimize. They count removed blocks and inform
// logs and metrics only; the host never acts on them.
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

// toCompressMetadata keeps nil counters nil: a count of 0 differs from one that does not apply to the strategy.
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

// fromCompressMetadata reads the counters as fields, not through getters, because getters turn nil into 0. Reading
// fields needs the check for a nil message.
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

// converted converts a number that may be absent between Go's int and the protocol's int64.
func converted[B, A int | int64](n *A) *B {
	if n == nil {
		return nil
	}
	return new(B(*n))
}
