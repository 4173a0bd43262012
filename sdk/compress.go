package sdk

// CompressSettings are the settings in force that a Compress is told.
type CompressSettings struct {
	// ContextLimit is the model's context limit, CompletionBudget the part of it reserved for the answer, in tokens.
	ContextLimit, CompletionBudget int
	// PreserveThreshold and TopPreserveThreshold are the shares of entries to leave alone at the end and at the start.
	PreserveThreshold, TopPreserveThreshold float64
	// Todos are the unfinished tasks. The host knows them for as long as the session is open, also when the calls that
	// wrote them are gone. [github.com/thresh-dev/thresh/sdk/summary.Run] tells the model.
	Todos []Todo
	// TranscriptPath is where the whole conversation can be read; "" if nowhere.
	TranscriptPath string
	// UserMessageBudget is how many tokens of what people said in a summarised range are kept word for word, newest
	// first.
	UserMessageBudget int
}

// DefaultCompressSettings applies when no setting of the host is set. ContextLimit is a common one, for a host that
// does not know its model's limit.
func DefaultCompressSettings() CompressSettings {
	return CompressSettings{
		ContextLimit: 200_000, PreserveThreshold: 0.4, TopPreserveThreshold: 0.2, UserMessageBudget: 20_000,
	}
}

// CompressParams is what a Compress is told in addition to [CallParams].
type CompressParams struct {
	CompressSettings
	// CurrentTokens is what the history counts now, PendingTokens what the next request adds to it.
	CurrentTokens, PendingTokens int
	// Threshold is the share of the context limit from which the history is compressed, in (0, 1].
	Threshold float64
	Reason    CompressReason
	// Depth is how many tokens the compressed history should count by what it costs to carry them, to write them again
	// and to search what was removed, which the model then can. 0: it cannot, or no prices are known; how deep to go is
	// the strategy's choice.
	Depth int
	// Profile is compression.profile; "" is the host's default.
	Profile string
	// Model is the model behind [Host.Generate]; nil if the strategy may not call it.
	Model *Model
}

// TargetShare of the threshold is what a compressed history should fit into: the next Compress is then some way off.
const TargetShare = 0.6

// Target returns (threshold × (context limit − completion budget) − pending tokens) × [TargetShare], in tokens, not
// rounded; at least 0. Every request carries the pending tokens, so the history cannot use their room.
func (p CompressParams) Target() float64 {
	trigger := p.Threshold * float64(p.ContextLimit-max(0, p.CompletionBudget))
	return max(0, trigger-float64(max(0, p.PendingTokens))) * TargetShare
}

// CompressReason says why Compress is called.
type CompressReason string

const (
	// ReasonThreshold: the history reached [CompressParams.Threshold].
	ReasonThreshold CompressReason = "threshold"
	// ReasonHardLimit: the next request would not fit into the context window.
	ReasonHardLimit CompressReason = "hard-limit"
	// ReasonManual: a user or the agent asked for it.
	ReasonManual CompressReason = "manual"
	// ReasonCacheCold: the history reached [Trigger.EarlyThreshold], and the provider's prompt cache expired in a pause,
	// so that a rewrite costs nothing extra. The threshold need not be reached.
	ReasonCacheCold CompressReason = "cache-cold"
)

// Model is what a strategy knows of the model behind [Host.Generate].
type Model struct {
	Name string
	// ContextLimit is the model's own context limit and MaxOutput the most that it generates at once, in tokens. What
	// is sent and what is generated must fit into ContextLimit together.
	ContextLimit, MaxOutput int
}

// Todo is one task of the agent's list.
type Todo struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	// Status is "pending", "in_progress" or "completed".
	Status   string `json:"status"`
	Subtasks []Todo `json:"subtasks,omitempty"`
}

// NoOpReason says why a Compress had nothing to do. A no-op is neither a success nor an error: the history is
// unchanged, and the host does not ask again until something was added. A strategy may have reasons of its own.
type NoOpReason string

// The reasons that the shipped strategies and the host give.
const (
	NoOpEmptyHistory       NoOpReason = "empty-history"
	NoOpTailCoversAll      NoOpReason = "tail-covers-all"
	NoOpAlreadyUnderTarget NoOpReason = "already-under-target"
	NoOpNoGain             NoOpReason = "no-gain"
	NoOpTooFew             NoOpReason = "too-few-compressible"
	NoOpShrunkBelowMinimum NoOpReason = "shrunk-below-minimum"
)

// CompressMetadata says what a Compress did. The host adds the counts of entries and the strategy's
// name.
type CompressMetadata struct {
	LLMCallMade bool `json:"llmCallMade"`
	// TopPreserved, BottomPreserved and MiddleCompressed count entries; nil means that it does not apply.
	TopPreserved     *int `json:"topPreserved,omitempty"`
	BottomPreserved  *int `json:"bottomPreserved,omitempty"`
	MiddleCompressed *int `json:"middleCompressed,omitempty"`
	// TargetMissed says that the result is still over [CompressParams.Target].
	TargetMissed bool `json:"targetMissed,omitempty"`
	// Counts are the strategy's own counters, for example "exchangesDropped".
	Counts map[string]int64 `json:"counts,omitempty"`
}
