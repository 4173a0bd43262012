package sdk

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/thresh-dev/thresh/sdk/tools"
)

// Strategy makes a history smaller when it is over the threshold. A strategy keeps nothing between calls: calls for
// many sessions arrive at the same time, and the process may be replaced between any two.
type Strategy interface {
	// Info says what the strategy is. It must return the same each time.
	Info() Info

	// Compress is called when the history is over the threshold (REQ-HD-008). It returns a new history, made of entries
	// of in.History (kept as they are, or copied and changed) and of new ones, or says why there is nothing to do.
	//
	// The host refuses a result in which a tool response lost its call, and keeps the history as it was. ctx ends when
	// nobody waits for the answer any more; its deadline is the host's setting plugins.compressTimeout. An error is
	// passed to the agent; no other strategy is tried (REQ-HD-013.4).
	Compress(ctx context.Context, host Host, in CompressInput) (CompressResult, error)
}

// Optimizer is the second half of a strategy whose trigger is [Continuous] (REQ-HD-001.2).
type Optimizer interface {
	// Optimize prunes without an LLM, before every threshold check. It must be deterministic, must not change in.History,
	// and applying its result and running it again must change nothing.
	Optimize(ctx context.Context, in OptimizeInput) (DensityResult, error)
}

// ConfigChecker is for a strategy that can tell that its settings do not go together. Types, bounds and allowed values
// need no checker: they are declared in [Info.Config], and the host checks them.
type ConfigChecker interface {
	// CheckConfig returns an error that names the setting and what it may be. It is called before any other call, and again
	// for sessions whose settings differ.
	CheckConfig(Config) error
}

// Info is what a strategy tells the host at the handshake.
type Info struct {
	// Name is lower-case letters, digits and hyphens: what follows "thresh-strategy-" in the binary's name.
	Name string
	// Version is the strategy's own, for people and for the host's lock file.
	Version string
	// Description is one line for people.
	Description string
	// Trigger is [Continuous] or [Threshold].
	Trigger Trigger
	// RequiresLLM says that Compress calls [Host.Generate].
	RequiresLLM bool
	// NeedsNetwork says that the strategy cannot work without the network, which hosts do not give to plugins unless people
	// grant it (plugins.grants.<name>.network). Calling [Host.Generate] needs no network.
	NeedsNetwork bool
	// Config declares the strategy's own settings. People set them as strategies.<name>.<key>.
	Config []ConfigField
}

// TriggerMode says when the host calls a strategy.
type TriggerMode string

// The trigger modes (REQ-HD-001.1).
const (
	ModeContinuous TriggerMode = "continuous"
	ModeThreshold  TriggerMode = "threshold"
)

// Trigger is a mode and the default threshold: the share of the context limit, in (0, 1], from which on Compress is
// called when nobody set compression.threshold.
type Trigger struct {
	Mode             TriggerMode
	DefaultThreshold float64
}

// Continuous is the trigger of a strategy that has Optimize, which then runs before every threshold check.
func Continuous(defaultThreshold float64) Trigger { return Trigger{ModeContinuous, defaultThreshold} }

// Threshold is the trigger of a strategy that only has Compress.
func Threshold(defaultThreshold float64) Trigger { return Trigger{ModeThreshold, defaultThreshold} }

// ConfigType is the type of a strategy's setting.
type ConfigType string

// The types of a setting.
const (
	Boolean ConfigType = "boolean"
	Integer ConfigType = "integer"
	Number  ConfigType = "number"
	String  ConfigType = "string"
)

// ConfigField declares one setting of a strategy.
type ConfigField struct {
	Key  string
	Type ConfigType
	// Default must be of Type; nil means that the setting is absent unless somebody sets it.
	Default     any
	Description string
	// Allowed lists the values of a String; empty allows any.
	Allowed []string
	// Minimum and Maximum are inclusive bounds of an Integer or Number; nil means none.
	Minimum, Maximum *float64
}

// Config is a strategy's own settings as a JSON object, checked by the host, with defaults filled in.
type Config json.RawMessage

// Decode stores the settings in the struct that v points to, by its json tags.
func (c Config) Decode(v any) error {
	if len(c) == 0 {
		return nil
	}
	return json.Unmarshal(c, v)
}

// Call is what Optimize and Compress have in common.
type Call struct {
	SessionID string
	// Revision of the history, as the host counts it.
	Revision uint64
	// History is the strategy's to read and to copy from; its entries know where they stood ([content.Content.Origin]).
	History []Content
	// WorkspaceRoot is absolute; relative paths in tool parameters are resolved against it.
	WorkspaceRoot string
	// Tools says what a tool call reads, writes and runs. Never nil.
	Tools *tools.Taxonomy
	// Config holds the strategy's own settings for this session.
	Config Config
	// Log goes to the host's log. Never nil. Do not log what people said.
	Log *slog.Logger
}

// OptimizeInput is what [Optimizer.Optimize] gets. History is the raw history (REQ-HD-002.9).
type OptimizeInput struct {
	Call
	Density DensityConfig
}

// PartialWrites says whether a partial write (an edit) makes earlier reads of its file stale.
type PartialWrites string

// The values of compression.density.partialWrites.
const (
	PartialWritesPrune PartialWrites = "prune"
	PartialWritesKeep  PartialWrites = "keep"
)

// DensityConfig holds the settings under compression.density (REQ-HD-001.9).
type DensityConfig struct {
	ReadWritePruning bool
	FileDedupe       bool
	RecencyPruning   bool
	// RecencyRetention is how many results to keep per tool name; below 1 counts as 1 (REQ-HD-013.6).
	RecencyRetention int
	// PartialWrites is [PartialWritesPrune] unless set.
	PartialWrites PartialWrites
}

// DensityResult is a set of edits to the history that Optimize was given. The zero value changes nothing.
type DensityResult struct {
	// Removals are the positions of entries to be removed, ascending.
	Removals []int
	// Replacements maps positions to entries that differ from the original in their blocks only. No position may stand
	// in Removals too (REQ-HD-001.6).
	Replacements map[int]Content
	// Reasons says for positions in Removals and Replacements why. It is for people who ask what became of an entry, and
	// optional: a position without a reason is fine, and so is nil.
	Reasons  map[int]Reason
	Metadata DensityMetadata
}

// Reason says why an entry was removed or replaced. Nothing is decided by it: what is ill-formed in it is dropped, and the
// result counts without. Where several reasons apply to one entry, give the first. The zero value is none.
type Reason struct {
	// Rule names the rule, for example "stale-read", in at most 64 characters of a to z, 0 to 9 and hyphens. "" is none.
	Rule string
	// SupersededBy is the position, in [Call].History, of the entry that made this one dispensable: the later write of a
	// stale read, the newer result of an old one. It may be the same entry, where a later block did. Nil is none.
	SupersededBy *int
}

// DensityMetadata counts what an Optimize did (REQ-HD-001.8).
type DensityMetadata struct {
	// ReadWritePairsPruned counts pairs of call and response.
	ReadWritePairsPruned int `json:"readWritePairsPruned"`
	// FileDeduplicationsPruned counts inclusions.
	FileDeduplicationsPruned int `json:"fileDeduplicationsPruned"`
	// RecencyPruned counts response blocks.
	RecencyPruned int `json:"recencyPruned"`
}

// CompressReason says why Compress is called.
type CompressReason string

// The reasons.
const (
	ReasonThreshold CompressReason = "threshold"
	ReasonHardLimit CompressReason = "hard-limit"
	ReasonManual    CompressReason = "manual"
)

// CompressInput is what [Strategy.Compress] gets. History is the curated history: without entries of the AI that say nothing.
type CompressInput struct {
	Call
	// CurrentTokens is what the history counts now; PendingTokens is what the next request adds.
	CurrentTokens, PendingTokens int
	// ContextLimit is the model's context window in tokens; CompletionBudget is set aside for the answer.
	ContextLimit, CompletionBudget int
	// Threshold is the share of the context limit that was reached, in (0, 1].
	Threshold float64
	// PreserveThreshold and TopPreserveThreshold are the shares of entries at the end and at the start to be left alone.
	PreserveThreshold, TopPreserveThreshold float64
	Reason                                  CompressReason
	// Todos are the tasks that are not done (REQ-HD-011).
	Todos []Todo
	// TranscriptPath is where the whole conversation can be read (REQ-HD-012); "" if nowhere.
	TranscriptPath string
	// Profile is compression.profile; "" is the host's default.
	Profile string
	// Model is the model behind [Host.Generate]; nil if the strategy may not call it.
	Model *Model
	// UserMessageBudget is how many tokens of what people said in a summarised range are kept word for word, newest first.
	UserMessageBudget int
	// Verification asks for a second pass that looks for omissions in a summary.
	Verification bool

	// TokensIn counts History[from:to] and Tokens calls it. The SDK sets it; a test may.
	TokensIn func(from, to int) int
}

// Tokens returns what the host's tokenizer counts for History[from:to]. It costs nothing: entries come with their counts.
func (in CompressInput) Tokens(from, to int) int {
	if in.TokensIn == nil || from >= to {
		return 0
	}
	return in.TokensIn(from, to)
}

// Model is what a strategy knows of the model behind [Host.Generate].
type Model struct {
	Name string
	// ContextLimit is the model's own context window and MaxOutput the most that it generates at once, in tokens. What is
	// sent and what is generated must fit into ContextLimit together.
	ContextLimit, MaxOutput int
}

// TargetShare of the threshold is what a compressed history should fit into, so that the next Compress is some way off
// (REQ-HD-008.6).
const TargetShare = 0.6

// Target returns (threshold × (context limit − completion budget) − pending tokens) × [TargetShare], in tokens, not rounded; at
// least 0. Pending tokens are in every request, so that a history cannot have the room that they take.
func (in CompressInput) Target() float64 {
	trigger := in.Threshold * float64(in.ContextLimit-max(0, in.CompletionBudget))
	return max(0, trigger-float64(max(0, in.PendingTokens))) * TargetShare
}

// Todo is one task of the agent's list.
type Todo struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	// Status is "pending", "in_progress" or "completed".
	Status   string `json:"status"`
	Subtasks []Todo `json:"subtasks,omitempty"`
}

// NoOpReason says why a Compress had nothing to do. A no-op is neither a success nor an error: the history stays, and the
// host does not ask again until something was added. A strategy may have reasons of its own.
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

// CompressResult is what a Compress did: a new history, or a no-op. Make it with [Applied] or [NoOp].
type CompressResult struct {
	// NoOp is not empty if nothing was done.
	NoOp     NoOpReason
	History  []Content
	Metadata CompressMetadata
}

// Applied returns the result of a Compress that made a new history.
func Applied(history []Content, m CompressMetadata) CompressResult {
	return CompressResult{History: history, Metadata: m}
}

// NoOp returns the result of a Compress that had nothing to do.
func NoOp(reason NoOpReason) CompressResult { return CompressResult{NoOp: reason} }

// CompressMetadata says what a Compress did (REQ-HD-008.5). The host adds the counts of entries and the strategy's name.
type CompressMetadata struct {
	LLMCallMade bool `json:"llmCallMade"`
	// TopPreserved, BottomPreserved and MiddleCompressed count entries; nil means that it does not apply.
	TopPreserved     *int `json:"topPreserved,omitempty"`
	BottomPreserved  *int `json:"bottomPreserved,omitempty"`
	MiddleCompressed *int `json:"middleCompressed,omitempty"`
	// TargetMissed says that the result is still over [CompressInput.Target].
	TargetMissed bool `json:"targetMissed,omitempty"`
	// Counts are counters of the strategy's own, for example "exchangesDropped".
	Counts map[string]int64 `json:"counts,omitempty"`
}

// Host is what a strategy can ask the host for, during its Compress only.
type Host interface {
	// EstimateTokens counts entries with the host's tokenizer, one count for each, in tokens. Ask for many at once, and
	// only for entries that were changed or made: for the others there is [CompressInput.Tokens].
	EstimateTokens(ctx context.Context, entries []Content) ([]int, error)

	// Generate runs one completion on the host's model and calls onText (which may be nil) with each piece of text as it
	// arrives. Only for strategies with [Info.RequiresLLM].
	Generate(ctx context.Context, req GenerateRequest, onText func(string)) (Generation, error)

	// ResolvePrompt returns the prompt in force (REQ-HD-010), for example "compression".
	ResolvePrompt(ctx context.Context, name string) (string, error)
}

// GenerateRequest is one request to the host's model. Entries hold text blocks only; speakers are human and ai.
type GenerateRequest struct {
	System  string
	Entries []Content
	// MaxOutputTokens is the most that may be generated; 0 leaves it to the provider profile.
	MaxOutputTokens int
}

// Generation is what the model answered.
type Generation struct {
	Text         string
	FinishReason string
	InputTokens  int
	OutputTokens int
	Model        string
}
