package watch

import (
	"cmp"
	"strings"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
)

// reasonOf says why a turn changed a history; "" if it did not.
func reasonOf(o *outcome.Outcome) string {
	var why []string
	if p := o.Optimize; p.Kind == outcome.KindApplied {
		why = append(why, cmp.Or(pruned[p.Decision.Reason], "pruned"))
	}
	if o.Compress.Kind == outcome.KindApplied {
		why = append(why, cmp.Or(compressed[o.Compress.Reason], "compressed"))
	}
	for _, step := range o.Ladder {
		if said := made[step.Rung]; said != "" {
			why = append(why, said)
		}
	}
	return strings.Join(why, "; ")
}

var pruned = map[outcome.DecisionReason]string{
	outcome.DecidedDue:      "pruned: window almost full",
	outcome.DecidedEnough:   "pruned: enough to remove",
	outcome.DecidedCold:     "pruned: nothing of it was cached",
	outcome.DecidedUncached: "trimmed before it was first sent",
	outcome.DecidedPays:     "pruned: saves more than it costs",
}

var compressed = map[sdk.CompressReason]string{
	sdk.ReasonThreshold: "compressed: window almost full",
	sdk.ReasonHardLimit: "compressed: the request did not fit",
	sdk.ReasonManual:    "compressed on request",
	sdk.ReasonCacheCold: "compressed after a long pause",
}

// made says how the ladder made room. It reports the strategy's own steps, too, which are named above.
var made = map[outcome.Rung]string{
	outcome.RungHuge:      "shortened huge tool results",
	outcome.RungResults:   "did not fit: replaced large tool results",
	outcome.RungExchanges: "did not fit: removed the oldest tool calls",
	outcome.RungLast:      "did not fit: shortened new tool results",
	outcome.RungHuman:     "did not fit: shortened or removed old messages",
}

// whyOf says why an entry was changed: by the rule that the strategy gave, or else by the step.
func whyOf(c outcome.Change) string {
	why := cmp.Or(rules[c.Rule], c.Rule, made[outcome.Rung(c.Step)])
	switch {
	case why == "" && c.Step == outcome.StepCompress:
		why = "compressed"
	case why == "" && c.Step == outcome.StepOptimize:
		why = "pruned"
	case why == "" && c.Step == outcome.StepThinking:
		why = "thinking that no longer follows what it was about"
	}
	if c.By != "" {
		why += ", see " + c.By
	}
	return why
}

// rules are those of the strategies that ship. Others have words of their own.
var rules = map[string]string{
	"stale-read":          "the file was written since",
	"duplicate-inclusion": "the file is included again later",
	"old-result":          "the tool has newer results",
	"repeated-lines":      "an earlier result shows the same lines",
}
