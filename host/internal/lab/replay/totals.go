package replay

import (
	"time"

	"github.com/thresh-dev/thresh/host/outcome"
)

// Totals add up turns ([Totals.Count]) and sessions ([Totals.Add]). It is the one sum of the lab: package compare
// embeds it and adds its own figures in the same two steps. The zero value is empty.
type Totals struct {
	Turns int `json:"turns"`
	// Unpruned and Sent are the tokens of all requests together: what was paid for without and with the strategy.
	Unpruned int `json:"unpruned"`
	Sent     int `json:"sent"`
	// PeakUnpruned and Peak are the largest single request, as the provider was expected to count it: by the same count
	// a request is over the limit.
	PeakUnpruned int `json:"peakUnpruned"`
	Peak         int `json:"peak"`
	// Optimized counts turns in which an Optimize changed something, Compressed those in which a Compress did.
	Optimized  int `json:"optimized"`
	Compressed int `json:"compressed"`
	// Held counts turns in which the cadence held pruning back, Laddered those in which room had to be made under the
	// limit.
	Held     int `json:"held"`
	Laddered int `json:"laddered"`
	// Overflows counts requests that were still too large for the model.
	Overflows int `json:"overflows"`
	// Boundaries counts the recorder's compactions.
	Boundaries int `json:"boundaries"`
	// Problems counts what was wrong with the histories at their ends, such as calls without a response.
	Problems   int           `json:"problems"`
	HostTime   time.Duration `json:"hostTimeNs"`
	PluginTime time.Duration `json:"pluginTimeNs"`
	// LLM is what the strategy's model calls cost; nil if it made none.
	LLM *outcome.Spent `json:"llm,omitempty"`
}

// Count adds the next turn of a session.
func (t *Totals) Count(turn Turn) {
	t.Turns++
	t.Unpruned += turn.Unpruned
	t.Sent += turn.AfterCompress
	t.PeakUnpruned, t.Peak = max(t.PeakUnpruned, turn.unpruned), max(t.Peak, turn.Projected)
	t.Optimized += count(turn.Optimize.Kind == outcome.KindApplied)
	t.Compressed += count(turn.Compress.Kind == outcome.KindApplied)
	t.Held += count(turn.Optimize.Kind == outcome.KindHeld)
	t.Laddered += count(len(turn.Ladder) > 0)
	t.Overflows += count(turn.Overflow != "")
	t.Boundaries += turn.Boundaries
	t.Problems += turn.NewProblems
	t.HostTime += turn.HostTime
	t.PluginTime += turn.PluginTime
	t.spend(turn.Compress.LLM)
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Add adds the totals of another session.
func (t *Totals) Add(o Totals) {
	t.Turns += o.Turns
	t.Unpruned += o.Unpruned
	t.Sent += o.Sent
	t.PeakUnpruned, t.Peak = max(t.PeakUnpruned, o.PeakUnpruned), max(t.Peak, o.Peak)
	t.Optimized += o.Optimized
	t.Compressed += o.Compressed
	t.Held += o.Held
	t.Laddered += o.Laddered
	t.Overflows += o.Overflows
	t.Boundaries += o.Boundaries
	t.Problems += o.Problems
	t.HostTime += o.HostTime
	t.PluginTime += o.PluginTime
	t.spend(o.LLM)
}

func (t *Totals) spend(s *outcome.Spent) {
	if s == nil {
		return
	}
	if t.LLM == nil {
		t.LLM = &outcome.Spent{}
	}
	t.LLM.Add(*s)
}

// Saved is the share of the tokens that were not sent, at most 1. It is negative if more was sent than without a
// strategy.
func (t Totals) Saved() float64 {
	if t.Unpruned == 0 {
		return 0
	}
	return 1 - float64(t.Sent)/float64(t.Unpruned)
}
