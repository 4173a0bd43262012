package watch

import (
	"testing"

	"github.com/thresh-dev/thresh/host/outcome"
)

// People read why a history was made smaller, and that nothing was done reads as nothing.
func TestReasonsAreWords(t *testing.T) {
	applied := outcome.Compress{Kind: outcome.KindApplied, Reason: "cache-cold"}
	pruned := outcome.Optimize{Kind: outcome.KindApplied, Decision: outcome.Decision{Reason: outcome.DecidedUncached}}
	held := pruned
	held.Kind = outcome.KindHeld
	for want, o := range map[string]outcome.Outcome{
		"":                                 {Optimize: held, Compress: outcome.Compress{Kind: outcome.KindNoOp, Reason: "threshold"}},
		"trimmed before it was first sent": {Optimize: pruned},
		"compressed after a long pause":    {Compress: applied},
		"pruned": {
			Optimize: outcome.Optimize{Kind: outcome.KindApplied, Decision: outcome.Decision{Reason: "every-turn"}},
		},
		"compressed: the request did not fit; did not fit: replaced large tool results": {
			Compress: outcome.Compress{Kind: outcome.KindApplied, Reason: "hard-limit"},
			Ladder:   []outcome.LadderStep{{Rung: outcome.RungCompress}, {Rung: outcome.RungResults}}},
	} {
		if got := reasonOf(&o); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, c := range map[string]outcome.Change{
		"the file was written since, see e9":       {Step: outcome.StepOptimize, Rule: "stale-read", By: "e9"},
		"a rule of its own":                        {Step: outcome.StepOptimize, Rule: "a rule of its own"},
		"compressed":                               {Step: outcome.StepCompress},
		"did not fit: replaced large tool results": {Step: string(outcome.RungResults)},
	} {
		if got := whyOf(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
