package prepare

import (
	"context"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/keep"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Request is what one turn is asked.
type Request struct {
	Strategy Strategy
	Settings Settings
	Sending
	// SettingsVersion is [Pipeline.SettingsVersion] as of when Settings were read; 0 is the current one.
	SettingsVersion uint64
	// Apply, if not nil, carries out a plan in place of [history.History.Apply]. It must write all entries so far and
	// the rewrite to durable storage first: after the rewrite, the removed ones exist nowhere else. If it fails, the
	// turn fails and the history is unchanged. step is as in [outcome.Change]; "" is the ladder.
	Apply func(plan *history.Plan, step string) error
	// Compressing, if not nil, is called before a strategy is asked for a Compress, which may call a model. An error
	// fails the turn. done is called when the answer was applied or dropped.
	Compressing func(ctx context.Context) (done func(), err error)
}

// Sending is what is known of the request that is about to be sent. The zero value is a request of the history alone.
type Sending struct {
	// Pending is how many tokens the request holds in addition to the history: a prompt that is not added yet, tool
	// schemas. It is clamped to at least 0.
	Pending int
	// At is when the request is sent; zero is now. Replays set it to the recorded time.
	At time.Time
	// Recall says that the model can search what was removed, so that a rewrite may remove it for its price alone.
	Recall bool
	// Thinking is what the request's model does with thinking that stands behind a change.
	Thinking Thinking
	// Marks makes the marks by which the model asks for a shortened result; nil for none.
	Marks *history.Marker
	// UpTo, if not nil, is when the turn was requested: what was appended later is neither given to the strategy nor
	// part of the view, and is left for the next turn. nil: the turn sees everything that the history holds when it
	// begins.
	UpTo *history.Point
}

// Thinking is what a model does with thinking whose conversation was changed before it.
type Thinking byte

// What models do.
const (
	// ThinkingOfModel: what the table of models says of this one.
	ThinkingOfModel Thinking = iota
	// ThinkingSealed: the model refuses it, as it has shown.
	ThinkingSealed
	// ThinkingHeld: the model refuses it, and wants back what led to the calls that were just answered. So nothing
	// before the newest of it may change in this turn.
	ThinkingHeld
)

// Settings are the settings of one turn, resolved from the configuration.
type Settings struct {
	// Threshold is the share of the hard limit from which the history is compressed; nil for the strategy's default.
	Threshold *float64
	// ContextLimit and CompletionBudget are in the provider's tokens here; the strategy gets them in tokens as the host
	// counts.
	sdk.CallSettings
	sdk.OptimizeParams
	sdk.CompressSettings
	// Tools is the tool taxonomy in force; nil knows no tool.
	Tools *tools.Taxonomy
	// Keep are the rules by which entries stay whole, and KeepShare the share of the hard limit that they may count.
	Keep      *keep.Rules
	KeepShare float64
	// LLM is the model that the strategy may call; nil for a strategy that needs none.
	LLM *LLM
	// Prompt resolves a prompt by name; nil if there are no prompts.
	Prompt func(ctx context.Context, name string) (string, error)
	// Cadence says when the density step may change the history. "" is [outcome.CadenceEveryTurn].
	Cadence outcome.Cadence
	// OptimizeThreshold, a share of the hard limit, applies to [outcome.CadenceGated]; MinSavings, in tokens, also to
	// [outcome.CadencePriced].
	OptimizeThreshold float64
	MinSavings        int
	// Prices apply to [outcome.CadencePriced]. Without them it is [outcome.CadenceEveryTurn].
	Prices *pricing.List
	// Ladder allows making room under the hard limit without the strategy if its Compress was not enough.
	Ladder bool
	// KeepHuman keeps the ladder from removing what people said.
	KeepHuman bool
	// Seals: the model takes thinking back only behind exactly what it was made behind.
	Seals bool
	// Cooldown is how long no Compress is tried after a non-retryable error. 0 or less: no cooldown.
	Cooldown time.Duration
}
