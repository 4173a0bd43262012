package mutants

import (
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/sdk"
)

// Mutant is a strategy with one fault.
type Mutant struct {
	Name string
	// Check is the check that finds it, Rule the rule that it breaks.
	Check string
	Rule  *check.Rule
}

// Honest has no fault.
const Honest = "honest"

// All are the mutants.
func All() []Mutant {
	return []Mutant{
		{"counts-one-too-many", "statements", conform.ErrUntrue},
		{"counts-seven-too-many", "statements", conform.ErrUntrue},
		{"counts-wrong-in-compress", "statements", conform.ErrUntrue},
		{"drops-the-lines-of-a-failure", "statements", conform.ErrFailureGone},
		{"keeps-two-lines-of-each-end", "statements", conform.ErrFailureGone},
		{"tears-cut-lines", "statements", conform.ErrUntrue},
		{"counts-marks-as-lines", "statements", conform.ErrUntrue},
		{"throws-dice", "optimize-deterministic", conform.ErrRandom},
		{"counts-its-calls", "optimize-pure", conform.ErrKept},
		{"looks-at-the-session", "optimize-pure", conform.ErrKept},
		{"trusts-its-memo", "optimize-delta", conform.ErrMemo},
		{"never-done", "optimize-idempotent", conform.ErrNotDone},
		{"edits-in-place", "optimize-valid", conform.ErrInputChanged},
		{"keeps-its-first-settings", "settings-calls", conform.ErrSettings},
		{"keeps-its-first-settings-in-compress", "settings-calls", conform.ErrSettings},
		{"remembers-calls-in-compress", "compress-pure", conform.ErrKept},
		{"mixes-up-calls", "concurrency", conform.ErrAtOnce},
		{"compares-all-with-all", "growth", conform.ErrSlow},
		{"prunes-pinned", "optimize-valid", check.ErrPinned},
		{"removes-people", "optimize-valid", check.ErrHumanLost},
		{"rewords-people", "optimize-valid", check.ErrHumanChanged},
		{"hides-failures", "optimize-valid", check.ErrOutcomeChanged},
		{"rewrites-results", "optimize-valid", check.ErrResultChanged},
		{"rewrites-parameters", "optimize-valid", check.ErrCallChanged},
		{"renames-tools", "optimize-valid", check.ErrCallChanged},
		{"speaks-for-the-model", "optimize-valid", check.ErrWordsAdded},
		{"rewrites-thinking", "optimize-valid", check.ErrSigned},
		{"drops-unknown-blocks", "optimize-valid", check.ErrOpaqueChanged},
		{"drops-calls", "optimize-valid", check.ErrOrphaned},
		{"drops-results", "optimize-valid", check.ErrUnanswered},
		{"compresses-pinned", "compress-valid", check.ErrPinned},
		{"rewords-people-in-compress", "compress-valid", check.ErrHumanChanged},
		{"speaks-as-a-person", "compress-valid", check.ErrHumanMade},
		{"repeats-an-entry", "compress-valid", check.ErrTwice},
		{"repeats-a-person", "compress-valid", check.ErrTwice},
		{"parts-pairs-in-compress", "compress-valid", check.ErrOrphaned},
		{"drops-people-silently", "compress-human", conform.ErrPeopleGone},
		{"drops-the-newest-person", "compress-human", conform.ErrNewestGone},
		{"hides-that-it-missed", "compress-target", conform.ErrTargetMissed},
		{"achieves-nothing", "compress-target", conform.ErrNotSmaller},
		{"ignores-pending-tokens", "compress-target", conform.ErrNotUnder},
		{"swallows-failures", "services-failing", conform.ErrSwallowed},
		{"trips-over-empty-entries", "optimize-valid", conform.ErrPanic},
		{"trips-over-empty-entries-in-compress", "compress-valid", conform.ErrPanic},
		{"prints-in-compress", "stdout", conform.ErrPrints},
		{"asks-beyond-the-window", "services-window", conform.ErrWindow},
	}
}

// New returns the mutant of a name, or [Honest]; ok is false if there is none.
func New(name string) (s sdk.Strategy, ok bool) {
	for _, m := range All() {
		ok = ok || m.Name == name
	}
	switch name {
	case "keeps-two-lines-of-each-end", "tears-cut-lines", "counts-marks-as-lines", "keeps-its-first-settings-in-compress",
		"remembers-calls-in-compress":
		return &compressor{fault: name}, ok
	}
	return &strategy{fault: name}, ok || name == Honest
}
