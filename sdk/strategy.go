package sdk

import (
	"context"
	"log/slog"

	"github.com/thresh-dev/thresh/sdk/tools"
)

// Strategy makes a history smaller when it is over the threshold. It keeps nothing between calls: calls for many
// sessions arrive at the same time, and the process may be replaced between any two.
type Strategy interface {
	// Info declares what the strategy is. It must return the same value every time.
	Info() Info

	// Compress is called when the history is over the threshold, and below it where that pays and the trigger asks for it
	// ([Trigger.EarlyThreshold]). It returns a new history, made of entries of in.History (unchanged, or copied and
	// changed) and of new ones, or the reason why there is nothing to do.
	//
	// The host refuses a result in which a tool response lost its call, and keeps the history as it was. ctx is done
	// when the host no longer waits for the answer; its deadline is the host's setting plugins.compressTimeout. The
	// host passes an error on to the agent and tries no other strategy.
	Compress(ctx context.Context, host Host, in CompressInput) (CompressResult, error)
}

// Optimizer is the second half of a strategy whose trigger is [Continuous].
type Optimizer interface {
	// Optimize prunes without an LLM, before every threshold check. It must be deterministic and must not change
	// in.History. Running it again on its result must change nothing.
	Optimize(ctx context.Context, in OptimizeInput) (DensityResult, error)
}

// ConfigChecker is for a strategy whose settings depend on one another. The host checks types, bounds and allowed
// values, which [Info.Config] declares.
type ConfigChecker interface {
	// CheckConfig returns an error that names the setting and what it may be. It is called before any other call, and
	// again for sessions whose settings differ.
	CheckConfig(Config) error
}

// Call is what Optimize and Compress have in common.
type Call struct {
	CallParams
	// History may be read and copied from; its entries know where they were ([content.Content.Origin]).
	History []Content
	// Tools tells what a tool call reads, writes and runs. Never nil.
	Tools *tools.Taxonomy
	// Log writes to the host's log. Never nil. Do not log what people said.
	Log *slog.Logger
}

// OptimizeInput is what [Optimizer.Optimize] gets. History is the raw history. A strategy may ignore
// Unchanged, Applied and Memo and look at the whole history each time; with them it only pays for what is new.
type OptimizeInput struct {
	Call
	OptimizeParams

	// Unchanged is how many entries at the beginning of History are unchanged since the call that stored the Memo; 0 if
	// the memo is empty. What the memo says of later positions no longer holds: a rewrite of the history (edits that
	// were applied, a Compress) starts at the lowest entry that it touched, and may leave fewer entries. Edits of an
	// earlier call may not have been applied, because the host holds them back while applying them would cost more than
	// it saves. They belong in the result again.
	Unchanged int
	// Applied is more than 0 if the history was rewritten by exactly the edits that the call which stored the Memo
	// returned, and nothing else. It is then how many entries at the beginning of History these edits left. A strategy
	// that remembers its last edits can continue behind these entries; starting at Unchanged is right in any case.
	Applied int
	// Memo is kept with the session's history and lost with it. It may be nil, as in a unit test; its methods accept
	// that.
	Memo *Memo
}

// DensityResult is a set of edits to the history. The zero value changes nothing.
type DensityResult struct {
	// Removals are the positions of removed entries, ascending.
	Removals []int
	// Replacements maps positions to entries that differ from the original in their blocks only. No position may be in
	// Removals too.
	Replacements map[int]Content
	// Reasons says why for positions in Removals and Replacements, for people who ask what became of an entry. It is
	// optional.
	Reasons  map[int]Reason
	Metadata DensityMetadata
}

// CompressInput is what [Strategy.Compress] gets. History is the curated history: without empty entries of the AI.
type CompressInput struct {
	Call
	CompressParams

	// TokensIn counts History[from:to], in tokens; Tokens calls it. The SDK sets it; a test may.
	TokensIn func(from, to int) int
}

// Tokens returns what the host's tokenizer counts for History[from:to]. It costs nothing: entries come with their
// counts.
func (in CompressInput) Tokens(from, to int) int {
	if in.TokensIn == nil || from >= to {
		return 0
	}
	return in.TokensIn(from, to)
}

// Fits reports whether a history has at most [CompressParams.Target] tokens. Entries of History that did not change
// come with their counts; the host counts all others, in one call. The error is that of [Host.EstimateTokens].
func (in CompressInput) Fits(ctx context.Context, host Host, history []Content) (bool, error) {
	counts, err := host.EstimateTokens(ctx, history)
	tokens := 0
	for _, n := range counts {
		tokens += n
	}
	return float64(tokens) <= in.Target(), err
}

// CompressResult is a new history, or a no-op. Make it with [Applied] or [NoOp].
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
