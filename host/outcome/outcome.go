package outcome

import "time"

// Outcome says what one turn did.
type Outcome struct {
	Strategy string `json:"strategy"`
	Limits   Limits `json:"limits"`
	// TokensBefore is what the request would have counted without this turn, and Tokens what it counts after it.
	// Neither includes pending tokens (api.PrepareRequest.PendingTokens).
	TokensBefore int `json:"tokensBefore"`
	Tokens       int `json:"tokens"`
	// Projected is the host's estimate of what the provider will count, which the limits apply to: with pending tokens,
	// corrected by earlier reports (see Calibration).
	Projected int      `json:"projected"`
	Optimize  Optimize `json:"optimize"`
	Compress  Compress `json:"compress"`
	// Ladder lists the steps taken because the request was over the hard limit, in order; nil if it was not.
	// [RungHuge] is listed at the threshold, too.
	Ladder []LadderStep `json:"ladder,omitempty"`
	// Changes lists the entries that were removed, trimmed, added, kept or released, in the order of the steps.
	Changes []Change `json:"changes,omitempty"`
	// Gone counts what was said and this turn took out of the history; nil if nothing was.
	Gone *Gone `json:"gone,omitempty"`
	// Stable is the request's beginning that is unchanged since the last one, so perhaps in the provider's prompt
	// cache.
	Stable Stable `json:"stable"`
	// Calibration says how Projected follows from Tokens; nil until the agent reports usage.
	Calibration *Calibration `json:"calibration,omitempty"`
	// Pending are the ids of tool calls at the end of the history that still wait for their responses.
	Pending []string `json:"pending,omitempty"`
	// Problems are the places where the request differs from the history so that the provider accepts it.
	Problems []Problem `json:"problems,omitempty"`
	// NotIsolated are the measures of isolation that the strategy's plugin does without, each with the reason; nil if
	// it has all of them.
	NotIsolated []string `json:"notIsolated,omitempty"`
	// Failures are the strategy's errors in spite of which the turn went on; Warnings say so. They are for a program in
	// the same process, such as the host's metrics.
	Failures []error `json:"-"`
	// Warnings tell the agent's user in whole sentences of problems in a turn that succeeded: a strategy that failed
	// and is not called for a while, people's words removed to make room. The host logs each once per session.
	Warnings []string `json:"warnings,omitempty"`
	// HostTime is the duration of the turn, less the time in plugins and in calls of the model.
	HostTime time.Duration `json:"hostTimeNs"`
}

// Kind is what a step of a turn came to.
type Kind string

// The kinds of [Optimize] and [Compress]. What is planned by hand is [KindApplied] although the history stays as it is.
const (
	KindApplied Kind = "applied"
	// KindNoOp: the strategy found nothing to do; for a Compress, NoOp says why.
	KindNoOp Kind = "noop"
	// KindHeld: the strategy's edits were not applied; Decision says why. An Optimize alone is held.
	KindHeld Kind = "held"
)

// PluginTime is how long the host waited for the plugin in this turn.
func (o *Outcome) PluginTime() time.Duration { return o.Optimize.PluginTime + o.Compress.PluginTime }

// WaitTime is how long the host waited for the plugin and the model in this turn.
func (o *Outcome) WaitTime() time.Duration {
	d := o.PluginTime()
	if o.Compress.LLM != nil {
		d += o.Compress.LLM.Time
	}
	return d
}

// Limits are the token limits that applied to a turn.
type Limits struct {
	// Context is the setting model.contextLimit, Hard what model.completionBudget leaves of it: a larger request is not
	// sent.
	Context int `json:"context"`
	Hard    int `json:"hard"`
	// Threshold is a share of Hard, Trigger the same in tokens: from there on the history is compressed.
	Threshold float64 `json:"threshold"`
	// ThresholdFrom is "setting", "strategy default", or [FromPrices] where a Compress pays before that.
	ThresholdFrom string  `json:"thresholdFrom"`
	Trigger       float64 `json:"trigger"`
	// Early is the share of the room for the history from which on the strategy wants to be asked below its own threshold
	// where that pays: by prices, or with a cold cache, which then is the Compress's Reason. 0: it does not, or the
	// threshold is a setting.
	Early float64 `json:"early,omitempty"`
}

// FromPrices is the source of a threshold that is worked out for each turn, not below [Limits.Early].
const FromPrices = "prices"

// Stable is the beginning of a request that is identical to the beginning of the preceding one. An agent that sets
// cache breakpoints itself should set one at its end.
type Stable struct {
	Entries int `json:"entries"`
	Tokens  int `json:"tokens"`
}

// Calibration relates the host's token counts to the provider's, as learned from reported usage:
// provider = Ratio × host + Overhead.
type Calibration struct {
	Ratio float64 `json:"ratio"`
	// Overhead is what every prompt has besides the history (system prompt, tool schemas), in the provider's tokens.
	Overhead int `json:"overhead"`
	// Samples is the number of reports.
	Samples int `json:"samples"`
}
