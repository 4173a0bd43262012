package prepare

import (
	"fmt"

	"github.com/thresh-dev/thresh/host/outcome"
)

// minRoom is the share of the hard limit that must remain for the history. With less, no rewrite helps: it would take
// a large part of the history at every turn, until nothing of use is left.
const minRoom = 0.05

// alone is what the provider is expected to count for a request without any history: system prompt, tool schemas and
// pending tokens, in its tokens. No strategy can make it smaller.
func (t *turn) alone() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(0, t.known.Calibration.Estimate(max(0, t.req.Pending)))
}

// checkRoom returns an error if the request does not fit because of what is not history. It runs before any step:
// rewriting the history could not help, and what a rewrite removes is gone for good.
func (t *turn) checkRoom() error {
	hard := t.outcome.Limits.Hard
	if t.fits() || hard-t.alone() >= int(minRoom*float64(hard)) && t.alone() <= hard {
		return nil
	}
	err := t.overflow()
	err.Alone, err.Ladder = t.alone(), false
	return err
}

// thresholdReachable reports whether a smaller history could bring the request below the threshold. If not, a Compress
// at the threshold would be due at every turn and gain nothing, so only the hard limit counts.
func (t *turn) thresholdReachable() bool { return float64(t.alone()) < t.outcome.Limits.Trigger }

func alonePart(pending, alone int) string {
	if pending > 0 && pending >= alone/2 {
		return "the pending tokens (system prompt, tools, a prompt that is not added yet) alone"
	}
	return "the system prompt and tools alone"
}

// warn adds a warning to the outcome. The text should not differ from turn to turn, because the host logs each text
// once per session.
func (t *turn) warn(format string, args ...any) {
	t.outcome.Warnings = append(t.outcome.Warnings, fmt.Sprintf(format, args...))
}

// warnUnreachable is for a request that fits but is over the threshold whatever the history is. How many tokens that
// takes is a guess that each usage report moves, so the text gives the two limits instead.
func (t *turn) warnUnreachable(l outcome.Limits) {
	t.warn("%s are over the threshold of %d of %d tokens: the history is compressed only at the hard limit; "+
		"raise model.contextLimit or compression.threshold",
		alonePart(t.req.Pending, t.alone()), int(l.Trigger), l.Hard)
}
