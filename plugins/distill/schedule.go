package distill

import "github.com/thresh-dev/thresh/sdk"

// The schedule. When a history is rewritten decides the cost, because what stays is written to the provider's cache
// again. So distill waits until the window is rather full, and then makes room for long.
const (
	// full is the share of the free window at which a Compress is due.
	full = 0.85
	// targetShare of that trigger is what a compressed history should count. It may count more for the sake of what the
	// AI said and wrote, which may fill ownShare of what entries that must stay leave of the room, which is the trigger or
	// half of it, and minOwn of it however much that is: a large result that just came would otherwise cost all of it.
	targetShare, ownShare, minOwn = 0.33, 0.4, 0.2
	// largeWindow is from how many tokens on a context window has a soft window; softest is the smallest share that can
	// be set for it.
	largeWindow, softest = 150_000, 0.6
	// threshold is declared to the host, which asks from there on: the trigger of the smallest soft window. In other
	// windows Compress answers up to its own trigger that nothing is due.
	threshold = full * softest
	// earlyThreshold is declared to the host too, which asks from there on once a rewrite pays. When that is depends on
	// tokens and prices and hardly on the window, so it is a small share: on recorded sessions, 0.1 saved as much at
	// 200,000 tokens, but a third less at 1,000,000. What is below its target, distill leaves alone.
	earlyThreshold = 0.05
)

// notDue is the reason for a no-op before the trigger.
const notDue sdk.NoOpReason = "not-due"

// schedule is when a Compress is due and how far it goes, in tokens of the history. ownShare and minOwn are of the room.
type schedule struct{ trigger, target, room float64 }

// newSchedule works the schedule out for one call. A threshold that a user has set is the trigger itself. Where the host
// says how deep to go it has chosen the moment too; what the AI said and wrote may count more than that.
func newSchedule(in sdk.CompressInput, softWindow float64) schedule {
	window, share := float64(in.ContextLimit), in.Threshold
	if share == threshold || in.Depth > 0 {
		share = full
		if in.ContextLimit >= largeWindow {
			window *= softWindow
		}
	}
	trigger := share * max(0, window-float64(max(0, in.CompletionBudget))-float64(max(0, in.PendingTokens)))
	s := schedule{trigger, targetShare * trigger, trigger}
	if depth := float64(in.Depth); depth > 0 && depth < s.target {
		s.target, s.room = depth, trigger/2
	}
	return s
}

// due reports whether the history is to be compressed now. At the hard limit and on demand it always is.
func (s schedule) due(in sdk.CompressInput) bool {
	return in.Reason != sdk.ReasonThreshold || in.Threshold != threshold || in.Depth > 0 ||
		float64(in.CurrentTokens) >= s.trigger
}
