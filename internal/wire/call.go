package wire

import (
	"fmt"
	"math"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk"
)

// Call is the header that Optimize and Compress share: the parameters that an author sees, and what only travels.
type Call struct {
	sdk.CallParams
	// ID is unique among all calls of this host process. Every call back to the host's services carries it; the host
	// finds the budget, the deadline and the session by it.
	ID string
	// Epoch changes whenever the host rewrote the history, for logs.
	Epoch uint64
	// Held is how many entries the plugin is expected to hold from an earlier call; 0 means that the whole history
	// follows. Digest is the digest of what made them. A plugin that does not hold them answers with Resync.
	Held   uint64
	Digest Digest
	// Pieces is how many pieces follow the header to say what became of what the plugin holds; 0: it is unchanged.
	Pieces int
	// Entries is how many entries follow the pieces. A stream with fewer or more is refused.
	Entries int
	// Tools is the tool taxonomy in force, as JSON; empty for the SDK's default. It is opaque to the protocol, so a
	// host can add fields without a new version.
	Tools []byte
	// SameTools says that the taxonomy is that of the call which left what the plugin holds. Tools are empty then: they
	// would be 20 KB, ten times what a turn adds.
	SameTools bool
}

// toCallHeader and fromCallHeader are a pair, like all others in this file: a test sends every field through both.
func toCallHeader(c Call) *threshv1.CallHeader {
	base := &threshv1.Base{Epoch: c.Epoch, Length: c.Held, Pieces: uint64(c.Pieces), SameTools: c.SameTools}
	if c.Held > 0 {
		base.Digest = c.Digest.encode()
	}
	return &threshv1.CallHeader{
		CallId:        validUTF8(c.ID),
		SessionId:     validUTF8(c.SessionID),
		Revision:      c.Revision,
		Base:          base,
		Entries:       uint64(c.Entries),
		WorkspaceRoot: validUTF8(c.WorkspaceRoot),
		Tools:         c.Tools,
		Config:        c.Config,
	}
}

// fromCallHeader refuses a missing header and one that announces more than MaxInt32 entries, which no stream within
// [MaxHistory] can hold. With the latter error it still returns the call, so logs can name its session.
func fromCallHeader(h *threshv1.CallHeader) (Call, error) {
	if h == nil {
		return Call{}, noCallHeader(nil)
	}
	c := Call{
		CallParams: sdk.CallParams{
			SessionID:    h.GetSessionId(),
			Revision:     h.GetRevision(),
			CallSettings: sdk.CallSettings{WorkspaceRoot: h.GetWorkspaceRoot(), Config: h.GetConfig()},
		},
		ID:    h.GetCallId(),
		Epoch: h.GetBase().GetEpoch(),
		Held:  h.GetBase().GetLength(),
		// Clamped for platforms with a 32-bit int; the check below reports the real number.
		Pieces:    int(min(h.GetBase().GetPieces(), math.MaxInt32)),
		Entries:   int(min(h.GetEntries(), math.MaxInt32)),
		Tools:     h.GetTools(),
		SameTools: h.GetBase().GetSameTools() && h.GetBase().GetLength() > 0,
	}
	var known bool
	if c.Digest, known = decodeDigest(h.GetBase().GetDigest()); !known {
		c.Digest = Digest{} // the digest of no bytes, which no mirror has
	}
	if c.Held == 0 && c.Pieces > 0 {
		return c, fmt.Errorf("%w: Base.pieces is %d with a Base.length of 0", ErrMalformed, c.Pieces)
	}
	if n := h.GetBase().GetPieces(); n > math.MaxInt32 {
		return c, fmt.Errorf("%w: Base.pieces is %d, at most %d are allowed", ErrTooLarge, n, math.MaxInt32)
	}
	if h.GetEntries() > math.MaxInt32 {
		return c, fmt.Errorf("%w: CallHeader.entries is %d, at most %d are allowed",
			ErrTooLarge, h.GetEntries(), math.MaxInt32)
	}
	return c, nil
}

func toOptimizeHeader(c Call, p sdk.OptimizeParams) *threshv1.OptimizeHeader {
	return &threshv1.OptimizeHeader{Call: toCallHeader(c), Density: toDensityConfig(p.Density)}
}

// fromOptimizeHeader takes a nil h for an error.
func fromOptimizeHeader(h *threshv1.OptimizeHeader) (Call, sdk.OptimizeParams, error) {
	c, err := fromCallHeader(h.GetCall())
	return c, sdk.OptimizeParams{Density: fromDensityConfig(h.GetDensity())}, err
}

// toDensityConfig sends the default for "", so plugins in other languages need no rule for UNSPECIFIED.
func toDensityConfig(d sdk.DensityConfig) *threshv1.DensityConfig {
	out := &threshv1.DensityConfig{
		ReadWritePruning: d.ReadWritePruning,
		FileDedupe:       d.FileDedupe,
		RecencyPruning:   d.RecencyPruning,
		RecencyRetention: int64(d.RecencyRetention),
		PartialWrites:    threshv1.PartialWrites_PARTIAL_WRITES_PRUNE,
	}
	if d.PartialWrites == sdk.PartialWritesKeep {
		out.PartialWrites = threshv1.PartialWrites_PARTIAL_WRITES_KEEP
	}
	return out
}

// fromDensityConfig maps an unknown PartialWrites to the default: a newer host's value must not fail the call.
func fromDensityConfig(d *threshv1.DensityConfig) sdk.DensityConfig {
	out := sdk.DensityConfig{
		ReadWritePruning: d.GetReadWritePruning(),
		FileDedupe:       d.GetFileDedupe(),
		RecencyPruning:   d.GetRecencyPruning(),
		RecencyRetention: int(d.GetRecencyRetention()),
		PartialWrites:    sdk.PartialWritesPrune,
	}
	if d.GetPartialWrites() == threshv1.PartialWrites_PARTIAL_WRITES_KEEP {
		out.PartialWrites = sdk.PartialWritesKeep
	}
	return out
}

func toCompressHeader(c Call, p sdk.CompressParams) *threshv1.CompressHeader {
	return &threshv1.CompressHeader{
		Call:                 toCallHeader(c),
		CurrentTokens:        int64(p.CurrentTokens),
		PendingTokens:        int64(p.PendingTokens),
		ContextLimit:         int64(p.ContextLimit),
		CompletionBudget:     int64(p.CompletionBudget),
		Threshold:            p.Threshold,
		PreserveThreshold:    p.PreserveThreshold,
		TopPreserveThreshold: p.TopPreserveThreshold,
		Reason:               compressReasons[p.Reason],
		ActiveTodos:          toTodos(p.Todos),
		TranscriptPath:       validUTF8(p.TranscriptPath),
		Profile:              validUTF8(p.Profile),
		Model:                toModel(p.Model),
		UserMessageBudget:    int64(p.UserMessageBudget),
		Depth:                int64(p.Depth),
	}
}

func fromCompressHeader(h *threshv1.CompressHeader) (Call, sdk.CompressParams, error) {
	c, err := fromCallHeader(h.GetCall())
	reason, known := compressReasons.from(h.GetReason())
	if !known { // from a newer host
		reason = sdk.ReasonThreshold
	}
	return c, sdk.CompressParams{
		CompressSettings: sdk.CompressSettings{
			ContextLimit:         int(h.GetContextLimit()),
			CompletionBudget:     int(h.GetCompletionBudget()),
			PreserveThreshold:    h.GetPreserveThreshold(),
			TopPreserveThreshold: h.GetTopPreserveThreshold(),
			Todos:                fromTodos(h.GetActiveTodos()),
			TranscriptPath:       h.GetTranscriptPath(),
			UserMessageBudget:    int(h.GetUserMessageBudget()),
		},
		CurrentTokens: int(h.GetCurrentTokens()),
		PendingTokens: int(h.GetPendingTokens()),
		Threshold:     h.GetThreshold(),
		Reason:        reason,
		Depth:         int(h.GetDepth()),
		Profile:       h.GetProfile(),
		Model:         fromModel(h.GetModel()),
	}, err
}

// toModel keeps nil, which tells the strategy that it may not call a model.
func toModel(m *sdk.Model) *threshv1.Model {
	if m == nil {
		return nil
	}
	return &threshv1.Model{
		Name: validUTF8(m.Name), ContextLimit: int64(m.ContextLimit), MaxOutput: int64(m.MaxOutput),
	}
}

func fromModel(m *threshv1.Model) *sdk.Model {
	if m == nil {
		return nil
	}
	return &sdk.Model{
		Name: m.GetName(), ContextLimit: int(m.GetContextLimit()), MaxOutput: int(m.GetMaxOutput()),
	}
}

// toTodos converts subtasks to any depth. Statuses are the agent's own words, not an enumeration: agents differ, and
// strategies show them to a model as they are.
func toTodos(in []sdk.Todo) []*threshv1.Todo {
	var out []*threshv1.Todo
	for _, t := range in {
		out = append(out, &threshv1.Todo{
			Id:       validUTF8(t.ID),
			Content:  validUTF8(t.Content),
			Status:   validUTF8(t.Status),
			Subtasks: toTodos(t.Subtasks),
		})
	}
	return out
}

// fromTodos needs no limit of depth: gRPC refuses messages over [MaxGRPCMessage], and protobuf's parser limits nesting.
func fromTodos(in []*threshv1.Todo) []sdk.Todo {
	var out []sdk.Todo
	for _, t := range in {
		out = append(out, sdk.Todo{
			ID: t.GetId(), Content: t.GetContent(), Status: t.GetStatus(), Subtasks: fromTodos(t.GetSubtasks()),
		})
	}
	return out
}
