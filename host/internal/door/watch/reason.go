package watch

import (
	"strings"

	"github.com/thresh-dev/thresh/host/outcome"
)

// reasonOf says why a turn changed a history; "" if it did not. The words are those of the outcome's own values.
func reasonOf(o *outcome.Outcome) string {
	var why []string
	if p := o.Optimize; p.Removed+p.Replaced > 0 && !p.Held {
		why = append(why, words("prune", string(p.Decision.Reason)))
	}
	if o.Compress.Kind == outcome.KindApplied {
		why = append(why, words("compress", string(o.Compress.Reason)))
	}
	for _, step := range o.Ladder {
		if step.Rung != outcome.RungOptimize && step.Rung != outcome.RungCompress {
			why = append(why, words("make room", string(step.Rung)))
		}
	}
	return strings.Join(why, "; ")
}

// words puts a step and its reason together; a step may have none.
func words(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}
