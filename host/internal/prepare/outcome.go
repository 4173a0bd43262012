package prepare

import (
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// Outcome says what a turn did. Durations are in nanoseconds in JSON, token counts in tokens.
type Outcome struct {
	Strategy string `json:"strategy"`
	Limits   Limits `json:"limits"`
	// TokensBefore is what the request would have counted without this turn, Tokens what it counts now. Pending tokens are
	// in neither.
	TokensBefore int `json:"tokensBefore"`
	Tokens       int `json:"tokens"`
	// Projected is what the provider will count for the request, as far as the host knows, and what the limits were last
	// checked with: pending tokens are in it, and what the provider reported for earlier requests (see Calibration).
	Projected int             `json:"projected"`
	Optimize  OptimizeOutcome `json:"optimize"`
	Compress  CompressOutcome `json:"compress"`
	// Ladder are the steps that were taken because the request was over the hard limit, in order; nil if it was not.
	Ladder []LadderStep `json:"ladder,omitempty"`
	// Changes are the entries that were removed, trimmed or made, in the order of the steps.
	Changes []history.Change `json:"changes,omitempty"`
	// Stable is how much of the beginning of what is sent was sent before: the provider's cache may hold it.
	Stable Stable `json:"stable"`
	// Calibration says how Projected follows from Tokens; nil while no usage was reported.
	Calibration *Calibration `json:"calibration,omitempty"`
	// Pending are the ids of tool calls at the end that still wait for their responses.
	Pending []string `json:"pending,omitempty"`
	// Problems are the places where what is sent differs from the history so that the provider accepts it.
	Problems []history.Problem `json:"problems,omitempty"`
	// HostTime is the turn without the time in plugins and at the model.
	HostTime time.Duration `json:"hostTimeNs"`
}

// PluginTime is how long the host waited for the plugin in this turn.
func (o *Outcome) PluginTime() time.Duration { return o.Optimize.PluginTime + o.Compress.PluginTime }

// elsewhere is the time that was not the host's own.
func (o *Outcome) elsewhere() time.Duration {
	d := o.PluginTime()
	if o.Compress.LLM != nil {
		d += o.Compress.LLM.Time
	}
	return d
}

// Calibration is what the provider's reports taught about its count, see [tokens.Calibration].
type Calibration struct {
	Ratio float64 `json:"ratio"`
	// Overhead is what is in every prompt beside the history (the system prompt, tool schemas), in tokens of the provider.
	Overhead int `json:"overhead"`
	// Samples is how many reports that rests on.
	Samples int `json:"samples"`
}

// Limits are what a turn was measured by, in tokens.
type Limits struct {
	// Context is model.contextLimit, Hard what of it is left after model.completionBudget.
	Context int `json:"context"`
	Hard    int `json:"hard"`
	// Threshold is a share of Hard, Trigger the tokens from which on the history is compressed.
	Threshold     float64 `json:"threshold"`
	ThresholdFrom string  `json:"thresholdFrom"`
	Trigger       float64 `json:"trigger"`
}

// Skipped says why a step did not run.
type Skipped string

// Why an Optimize did not run.
const (
	SkippedNotContinuous Skipped = "not-continuous" // REQ-HD-002.2
	SkippedClean         Skipped = "clean"          // nothing was added since the last one (REQ-HD-002.3)
	SkippedGated         Skipped = "gated"          // compression.density.optimizeThreshold is not reached
)

// The steps that stand in [history.Change.Step], beside the rungs of the ladder.
const (
	StepOptimize = string(RungOptimize)
	StepCompress = string(RungCompress)
)

// OptimizeOutcome is what the density step did.
type OptimizeOutcome struct {
	Ran     bool    `json:"ran"`
	Skipped Skipped `json:"skipped,omitempty"`
	// Decision is what the cadence made of what the strategy would prune. Held: it was not pruned.
	Decision Decision `json:"decision"`
	Held     bool     `json:"held,omitempty"`
	// LowestChanged is the position of the first entry of the history that the strategy would change; nil if there is none.
	LowestChanged *int `json:"lowestChanged,omitempty"`
	// Removed and Replaced count entries.
	Removed     int                      `json:"removed"`
	Replaced    int                      `json:"replaced"`
	Metadata    contract.DensityMetadata `json:"metadata"`
	TokensAfter int                      `json:"tokensAfter"`
	// PluginTime is how long the host waited for the plugin, sending and receiving included.
	PluginTime time.Duration `json:"pluginTimeNs"`
}

// Kind says what came of a Compress.
type Kind string

// What came of a Compress. Empty: it was not needed, or it failed.
const (
	KindApplied Kind = "applied"
	KindNoOp    Kind = "noop"
)

// CompressOutcome is what the compress step did. The zero value: the history was under the threshold.
type CompressOutcome struct {
	Kind Kind `json:"kind,omitempty"`
	// Reason says why it was called.
	Reason contract.CompressReason `json:"reason,omitempty"`
	// NoOp says why nothing was done. Remembered: the strategy was not asked again, since nothing was added.
	NoOp       contract.NoOpReason `json:"noop,omitempty"`
	Remembered bool                `json:"remembered,omitempty"`
	// Ineffective says that it gained less than 5 %. It is not repeated until something is added.
	Ineffective bool `json:"ineffective,omitempty"`
	// Failed is how it failed, where the ladder made room in spite of it.
	Failed string `json:"failed,omitempty"`
	// Tokens and entries of the curated history, before and after.
	TokensBefore  int                       `json:"tokensBefore,omitempty"`
	TokensAfter   int                       `json:"tokensAfter,omitempty"`
	EntriesBefore int                       `json:"entriesBefore,omitempty"`
	EntriesAfter  int                       `json:"entriesAfter,omitempty"`
	Metadata      contract.CompressMetadata `json:"metadata"`
	// LLM is what the strategy's model calls cost; nil if it made none.
	LLM *Spent `json:"llm,omitempty"`
	// Cooldown says that the strategy was not asked, since it failed lately in a way that a retry cannot help.
	Cooldown *Cooldown `json:"cooldown,omitempty"`
	// PluginTime is how long the host waited for the plugin, sending and receiving included, model calls not.
	PluginTime time.Duration `json:"pluginTimeNs,omitempty"`
}

// Cooldown says until when a failed Compress is not tried again, and how it failed.
type Cooldown struct {
	Until time.Time `json:"until"`
	Error string    `json:"error"`
}
