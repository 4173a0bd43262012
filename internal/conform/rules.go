package conform

import "github.com/thresh-dev/thresh/internal/check"

// The rules that the host does not enforce.
var (
	ErrUntrue = &check.Rule{Code: "untrue", Broken: "what is written into the history is not true",
		Do: "count what stood in its place, earlier marks for what they say (in Go: package marks)"}
	ErrFailureGone = &check.Rule{Code: "failure-gone", Broken: "a result said that the call failed, and no longer does",
		Do: "keep the lines that tell of a failure"}
	ErrPeopleGone = &check.Rule{Code: "people-gone", Broken: "an entry of a person is gone and not counted",
		Do: "count what is dropped, or say what was preserved"}
	ErrNewestGone = &check.Rule{Code: "newest-gone", Broken: "the newest thing a person said is gone, and older ones stay",
		Do: "keep it, or quote it word for word in the summary"}
	ErrNotSmaller = &check.Rule{Code: "not-smaller", Broken: "the result is not smaller",
		Do: "answer a no-op with a reason instead"}
	ErrTargetMissed = &check.Rule{Code: "target-missed", Broken: "the result is over the target, and target_missed is not set",
		Do: "aim at (threshold × (context limit − completion budget) − pending tokens) × 0.6, or set it"}
	ErrNotUnder = &check.Rule{Code: "not-under-target", Broken: "a no-op says that the history is under the target, and it is not",
		Do: "compare with (threshold × (context limit − completion budget) − pending tokens) × 0.6: in Go, in.Target()"}
	ErrSwallowed = &check.Rule{Code: "swallowed", Broken: "a service of the host failed, and a no-op hides it",
		Do: "return the error, with its code, or go on without the service"}
	ErrPanic = &check.Rule{Code: "panic", Broken: "the strategy panics",
		Do: "be ready for every history: entries may have no blocks, and blocks no text"}
	ErrInputChanged = &check.Rule{Code: "input-changed", Broken: "the strategy changed its input in place",
		Do: "copy an entry and its blocks before you change them"}
	ErrRandom = &check.Rule{Code: "random", Broken: "Optimize answers the same request differently",
		Do: "decide by the history alone: no clock, no random numbers, no order of a map"}
	ErrKept = &check.Rule{Code: "kept-state", Broken: "the answer depends on earlier calls or on the session",
		Do: "keep nothing between calls but a memo"}
	ErrNotDone = &check.Rule{Code: "not-idempotent", Broken: "Optimize finds more to do in its own result",
		Do: "leave alone what an earlier call made"}
	ErrMemo = &check.Rule{Code: "memo", Broken: "a memo changes the answer",
		Do: "believe it for the entries that Unchanged and Applied name, and for no others"}
	ErrSettings = &check.Rule{Code: "settings", Broken: "a call follows the settings of another one",
		Do: "read the settings of each call: sessions have their own"}
	ErrAtOnce = &check.Rule{Code: "at-once", Broken: "calls at once get other answers than one by one",
		Do: "share nothing between calls, or lock it for the whole call"}
	ErrSlow = &check.Rule{Code: "slow", Broken: "time grows faster than the history",
		Do: "look at each entry a fixed number of times"}
	ErrWindow = &check.Rule{Code: "window", Broken: "a request to the model does not fit its window",
		Do: "send at most the model's context_limit less max_output_tokens (0: its max_output), and ask in parts " +
			"(in Go: package summary)"}
	ErrPrints = &check.Rule{Code: "stdout", Broken: "it writes to standard output, which belongs to the handshake",
		Do: "log to standard error (in Go also: in.Log)"}
)

// Rules are all rules for strategies: those that the host enforces, then the others.
func Rules() []*check.Rule {
	return append(check.Rules(), ErrUntrue, ErrFailureGone, ErrPeopleGone, ErrNewestGone, ErrNotSmaller, ErrTargetMissed,
		ErrNotUnder, ErrSwallowed, ErrPanic, ErrInputChanged, ErrRandom, ErrKept, ErrNotDone, ErrMemo, ErrSettings,
		ErrAtOnce, ErrSlow, ErrWindow, ErrPrints)
}
