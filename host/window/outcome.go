package window

import (
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/history"
	"github.com/thresh-dev/thresh/sdk"
)

// Outcome says what a turn did. Durations are in nanoseconds in JSON, token counts in tokens.
type Outcome struct {
	Strategy string `json:"strategy"`
	Limits   Limits `json:"limits"`
	// TokensBefore is what the request would have counted without this turn, Tokens what it counts now. Pending tokens are
	// in neither.
	TokensBefore int `json:"tokensBefore"`
	Tokens       int `json:"tokens"`
	// Projected is what the limits were last checked with: the provider's own count where the agent reported one, pending
	// tokens included.
	Projected int             `json:"projected"`
	Optimize  OptimizeOutcome `json:"optimize"`
	Compress  CompressOutcome `json:"compress"`
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
)

// OptimizeOutcome is what the density step did.
type OptimizeOutcome struct {
	Ran     bool    `json:"ran"`
	Skipped Skipped `json:"skipped,omitempty"`
	// Removed and Replaced count entries.
	Removed     int                 `json:"removed"`
	Replaced    int                 `json:"replaced"`
	Metadata    sdk.DensityMetadata `json:"metadata"`
	TokensAfter int                 `json:"tokensAfter"`
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
	Reason sdk.CompressReason `json:"reason,omitempty"`
	// NoOp says why nothing was done. Remembered: the strategy was not asked again, since nothing was added.
	NoOp       sdk.NoOpReason `json:"noop,omitempty"`
	Remembered bool           `json:"remembered,omitempty"`
	// Tokens and entries of the curated history, before and after.
	TokensBefore  int                  `json:"tokensBefore,omitempty"`
	TokensAfter   int                  `json:"tokensAfter,omitempty"`
	EntriesBefore int                  `json:"entriesBefore,omitempty"`
	EntriesAfter  int                  `json:"entriesAfter,omitempty"`
	Metadata      sdk.CompressMetadata `json:"metadata"`
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

// ContextOverflowError says that the request is too large for the model although everything was done.
type ContextOverflowError struct {
	// Tokens of the history, Pending tokens of the request, and the hard limit.
	Tokens, Pending, Limit int
	Strategy               string
	Compress               CompressOutcome
}

// Missing is how many tokens have to go.
func (e *ContextOverflowError) Missing() int { return e.Tokens + e.Pending - e.Limit }

func (e *ContextOverflowError) Error() string {
	did := "compressed"
	switch c := e.Compress; {
	case c.Kind == KindNoOp:
		did = fmt.Sprintf("had nothing to compress (%s)", c.NoOp)
	case c.Cooldown != nil:
		did = fmt.Sprintf("failed and is not tried again before %s (%s)", c.Cooldown.Until.Format(time.TimeOnly), c.Cooldown.Error)
	}
	return fmt.Sprintf("the request is %d tokens over the context limit: history %d + pending %d > %d, after %s %s; shorten the last messages, raise model.contextLimit, or choose another compression.strategy",
		e.Missing(), e.Tokens, e.Pending, e.Limit, e.Strategy, did)
}
