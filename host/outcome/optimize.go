package outcome

import (
	"time"

	"github.com/thresh-dev/thresh/sdk"
)

// Optimize is what the prune step did. Only strategies with the trigger "continuous" have one.
type Optimize struct {
	// Kind is "" if the step failed or did not run; Skipped says why it did not.
	Kind    Kind    `json:"kind,omitempty"`
	Skipped Skipped `json:"skipped,omitempty"`
	// Decision says whether and why the cadence let the strategy's edits through.
	Decision Decision `json:"decision"`
	// LowestChanged is the position of the first entry that the strategy's edits change; nil if they change none.
	LowestChanged *int `json:"lowestChanged,omitempty"`
	// Removed and Replaced count entries.
	Removed  int `json:"removed"`
	Replaced int `json:"replaced"`
	// Metadata is what the strategy reported about its own work. For [KindHeld] it is zero and HeldMetadata is set.
	Metadata     sdk.DensityMetadata  `json:"metadata"`
	HeldMetadata *sdk.DensityMetadata `json:"heldMetadata,omitempty"`
	// TokensAfter is what the request counts after this step.
	TokensAfter int `json:"tokensAfter"`
	// PluginTime is how long the host waited for the plugin, transfer included.
	PluginTime time.Duration `json:"pluginTimeNs"`
}

type Skipped string

// Why the prune step did not run.
const (
	// SkippedNotContinuous: the strategy's trigger is "threshold", so it has no prune step.
	SkippedNotContinuous Skipped = "not-continuous"
	// SkippedClean: nothing was added since the last time.
	SkippedClean Skipped = "clean"
	// SkippedGated: the history is below compression.density.optimizeThreshold.
	SkippedGated Skipped = "gated"
	// SkippedHeld: the model wants back the thinking that led to the calls which were just answered, and takes it only
	// behind what it was made behind.
	SkippedHeld Skipped = "held"
)

// Cadence says when the prune step may change the history. A change invalidates the provider's prompt cache from there
// on, so pruning at every turn can cost more than it saves.
type Cadence string

// The cadences. "" is the same as [CadenceEveryTurn].
const (
	// CadenceEveryTurn prunes whenever something was added.
	CadenceEveryTurn Cadence = "every-turn"
	// CadenceGated prunes above a share of the context limit, and only if that removes enough tokens.
	CadenceGated Cadence = "gated"
	// CadencePriced prunes when carrying the tokens along would cost more than rewriting the prompt cache.
	CadencePriced Cadence = "priced"
)

// Decision is the cadence's decision on the strategy's edits.
type Decision struct {
	Cadence Cadence        `json:"cadence,omitempty"`
	Reason  DecisionReason `json:"reason,omitempty"`
	// Saves is how many tokens the edits remove, Rewrites how many remain but leave the prompt cache.
	Saves    int `json:"saves,omitempty"`
	Rewrites int `json:"rewrites,omitempty"`
	// Horizon is the number of further requests over which savings count, GainUSD what the edits gain over them, in US
	// dollars; negative if they lose. Both are for the cadence "priced" only.
	Horizon int     `json:"horizon,omitempty"`
	GainUSD float64 `json:"gainUSD,omitempty"`
}

type DecisionReason string

// Why edits were applied.
const (
	// DecidedEveryTurn: the cadence has no further condition.
	DecidedEveryTurn DecisionReason = "every-turn"
	// DecidedDue: the threshold is reached, so the history is about to be rewritten anyway.
	DecidedDue DecisionReason = "compression-due"
	// DecidedEnough: the edits remove compression.density.minSavings tokens or more.
	DecidedEnough DecisionReason = "enough-to-save"
	// DecidedCold: the prompt cache holds nothing of the history, or its entries have expired.
	DecidedCold DecisionReason = "cache-cold"
	// DecidedUncached: the edits change only entries that were never sent.
	DecidedUncached DecisionReason = "not-sent-yet"
	// DecidedPays: over the horizon, the removed tokens would cost more than the cache rewrite.
	DecidedPays DecisionReason = "pays"
)

// Why edits were held.
const (
	// DecidedTooLittle: the edits remove less than compression.density.minSavings tokens.
	DecidedTooLittle DecisionReason = "too-little-to-save"
	// DecidedTooCostly: the cache rewrite costs more than the removed tokens would.
	DecidedTooCostly DecisionReason = "does-not-pay"
)
