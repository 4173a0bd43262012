package plugins

import (
	"strings"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk"
)

func callHeader(id string, in Call) *threshv1.CallHeader {
	return &threshv1.CallHeader{
		CallId:        id,
		SessionId:     validUTF8(in.SessionID),
		Revision:      in.Revision,
		Base:          &threshv1.Base{Epoch: in.Epoch},
		Entries:       uint64(len(in.Entries)),
		WorkspaceRoot: validUTF8(in.WorkspaceRoot),
		Tools:         in.Tools,
		Config:        in.Config,
	}
}

func optimizeHeader(id string, in OptimizeCall) *threshv1.OptimizeHeader {
	partial := threshv1.PartialWrites_PARTIAL_WRITES_PRUNE
	if in.Density.PartialWrites == sdk.PartialWritesKeep {
		partial = threshv1.PartialWrites_PARTIAL_WRITES_KEEP
	}
	return &threshv1.OptimizeHeader{
		Call: callHeader(id, in.Call),
		Density: &threshv1.DensityConfig{
			ReadWritePruning: in.Density.ReadWritePruning,
			FileDedupe:       in.Density.FileDedupe,
			RecencyPruning:   in.Density.RecencyPruning,
			RecencyRetention: int64(in.Density.RecencyRetention),
			PartialWrites:    partial,
		},
	}
}

var compressReasons = map[sdk.CompressReason]threshv1.CompressReason{
	sdk.ReasonThreshold: threshv1.CompressReason_COMPRESS_REASON_THRESHOLD,
	sdk.ReasonHardLimit: threshv1.CompressReason_COMPRESS_REASON_HARD_LIMIT,
	sdk.ReasonManual:    threshv1.CompressReason_COMPRESS_REASON_MANUAL,
}

func compressHeader(id string, in CompressCall) *threshv1.CompressHeader {
	return &threshv1.CompressHeader{
		Call:                 callHeader(id, in.Call),
		CurrentTokens:        int64(in.CurrentTokens),
		PendingTokens:        int64(in.PendingTokens),
		ContextLimit:         int64(in.ContextLimit),
		CompletionBudget:     int64(in.CompletionBudget),
		Threshold:            in.Threshold,
		PreserveThreshold:    in.PreserveThreshold,
		TopPreserveThreshold: in.TopPreserveThreshold,
		Reason:               compressReasons[in.Reason],
		ActiveTodos:          todos(in.Todos),
		TranscriptPath:       validUTF8(in.TranscriptPath),
		Profile:              validUTF8(in.Profile),
		Model:                model(in.Model),
		UserMessageBudget:    int64(in.UserMessageBudget),
		Verification:         in.Verification,
	}
}

func model(m *sdk.Model) *threshv1.Model {
	if m == nil {
		return nil
	}
	return &threshv1.Model{Name: validUTF8(m.Name), ContextLimit: int64(m.ContextLimit), MaxOutput: int64(m.MaxOutput)}
}

func todos(in []sdk.Todo) []*threshv1.Todo {
	var out []*threshv1.Todo
	for _, t := range in {
		out = append(out, &threshv1.Todo{
			Id:       validUTF8(t.ID),
			Content:  validUTF8(t.Content),
			Status:   validUTF8(t.Status),
			Subtasks: todos(t.Subtasks),
		})
	}
	return out
}

func densityMetadata(m *threshv1.DensityMetadata) sdk.DensityMetadata {
	return sdk.DensityMetadata{
		ReadWritePairsPruned:     int(m.GetReadWritePairsPruned()),
		FileDeduplicationsPruned: int(m.GetFileDeduplicationsPruned()),
		RecencyPruned:            int(m.GetRecencyPruned()),
	}
}

func compressMetadata(m *threshv1.CompressMetadata) sdk.CompressMetadata {
	if m == nil {
		return sdk.CompressMetadata{}
	}
	return sdk.CompressMetadata{
		LLMCallMade:      m.LlmCallMade,
		TopPreserved:     intOf(m.TopPreserved),
		BottomPreserved:  intOf(m.BottomPreserved),
		MiddleCompressed: intOf(m.MiddleCompressed),
		TargetMissed:     m.TargetMissed,
		Counts:           m.Counts,
	}
}

func intOf(n *int64) *int {
	if n == nil {
		return nil
	}
	i := int(*n)
	return &i
}

// validUTF8 makes text fit for a protobuf string.
func validUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
