package outcome

import (
	"time"

	"github.com/thresh-dev/thresh/sdk"
)

// Compress is what the compress step did. The zero value: the history was below the threshold.
type Compress struct {
	// Kind is "" if the step was not needed or failed.
	Kind Kind `json:"kind,omitempty"`
	// Reason says why the step ran.
	Reason sdk.CompressReason `json:"reason,omitempty"`
	// NoOp says why the strategy did nothing. Remembered: this is an earlier turn's answer, as nothing was added since.
	NoOp       sdk.NoOpReason `json:"noop,omitempty"`
	Remembered bool           `json:"remembered,omitempty"`
	// Ineffective says that the step removed less than 5 % of the tokens, but was applied because the request needed it
	// or a model had been paid for it. It is not repeated until something is added.
	Ineffective bool `json:"ineffective,omitempty"`
	// Decision says whether the rewrite pays, if it was not needed to fit the hard limit; nil if that was not asked.
	Decision *Decision `json:"decision,omitempty"`
	// Failed is the strategy's error, if the turn went on without it because the ladder made room.
	Failed string `json:"failed,omitempty"`
	// The tokens and entries that the strategy worked on, before and after, without the AI's blank entries.
	TokensBefore  int `json:"tokensBefore,omitempty"`
	TokensAfter   int `json:"tokensAfter,omitempty"`
	EntriesBefore int `json:"entriesBefore,omitempty"`
	EntriesAfter  int `json:"entriesAfter,omitempty"`
	// Metadata is what the strategy reported about its own work.
	Metadata sdk.CompressMetadata `json:"metadata"`
	// LLM is what the strategy's model calls cost; nil if it made none.
	LLM *Spent `json:"llm,omitempty"`
	// Cooldown is set if the strategy was not asked because it failed recently with a non-retryable error.
	Cooldown *Cooldown `json:"cooldown,omitempty"`
	// PluginTime is how long the host waited for the plugin, transfer included and model calls not.
	PluginTime time.Duration `json:"pluginTimeNs,omitempty"`
}

// NoOpIneffective is the [Compress.NoOp] of a strategy that removed less than 5 % last time, so is not called again.
const NoOpIneffective sdk.NoOpReason = "ineffective"

// NoOpDoesNotPay is the [Compress.NoOp] of a result that was not applied, because the rewrite would cost more than it
// gains and the request fits without it: by prices if they are known, otherwise if it removes less than 10 %. Or it was
// enough to cut huge results: see [RungHuge].
const NoOpDoesNotPay sdk.NoOpReason = "does-not-pay"

// Cooldown says that a strategy is not asked for a while after a non-retryable error.
type Cooldown struct {
	// Until is when the strategy may be asked again.
	Until time.Time `json:"until"`
	// Error is the error that started the cooldown.
	Error string `json:"error"`
}

// Spent is the cost of model calls.
type Spent struct {
	Calls int `json:"calls"`
	// Attempts counts HTTP requests, retries included.
	Attempts         int     `json:"attempts"`
	InputTokens      int     `json:"inputTokens"`
	OutputTokens     int     `json:"outputTokens"`
	CacheReadTokens  int     `json:"cacheReadTokens,omitempty"`
	CacheWriteTokens int     `json:"cacheWriteTokens,omitempty"`
	CostUSD          float64 `json:"costUSD"`
	// Time is how long the host waited for the model.
	Time time.Duration `json:"timeNs"`
	// Profile is the configuration's name for the model, Model the provider's.
	Profile string `json:"profile,omitempty"`
	Model   string `json:"model,omitempty"`
}

// Add adds the cost of other calls. Profile and model are the last call's that has them.
func (s *Spent) Add(o Spent) {
	s.Calls += o.Calls
	s.Attempts += o.Attempts
	s.InputTokens += o.InputTokens
	s.OutputTokens += o.OutputTokens
	s.CacheReadTokens += o.CacheReadTokens
	s.CacheWriteTokens += o.CacheWriteTokens
	s.CostUSD += o.CostUSD
	s.Time += o.Time
	if o.Model != "" {
		s.Model = o.Model
	}
	if o.Profile != "" {
		s.Profile = o.Profile
	}
}
