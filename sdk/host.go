package sdk

import (
	"context"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Host is what a strategy can ask the host for, during its Compress only. It is safe for concurrent use.
type Host interface {
	// EstimateTokens counts entries with the host's tokenizer, one count for each, in tokens. Ask for many at once, and
	// only for changed or new entries: the others came with their counts.
	EstimateTokens(ctx context.Context, entries []content.Content) ([]int, error)

	// Generate runs one completion on the host's model and calls onText (which may be nil) with each piece of text as
	// it arrives. Only for strategies with [Info.RequiresLLM].
	Generate(ctx context.Context, req GenerateRequest, onText func(string)) (Completion, error)

	// ResolvePrompt returns the prompt in force, which users can replace. The only name is "compression".
	ResolvePrompt(ctx context.Context, name string) (string, error)
}

// GenerateRequest is one request to the host's model. Entries hold text blocks only; speakers are human and ai.
type GenerateRequest struct {
	System  string
	Entries []content.Content
	// MaxOutputTokens is the most that may be generated; 0 leaves it to the provider profile.
	MaxOutputTokens int
}

// Completion is what the model answered to a [GenerateRequest].
type Completion struct {
	Text string
	// FinishReason is the provider's word: "stop", "length", "end_turn", "max_tokens", …
	FinishReason string
	// InputTokens and OutputTokens are the provider's counts, or the host's estimate where those are not plausible.
	InputTokens  int
	OutputTokens int
	Model        string
}
