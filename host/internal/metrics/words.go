package metrics

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/failure"
	"github.com/thresh-dev/thresh/sdk"
)

// All words that attributes may have are in this file, but for those that a plugin's failure names itself, to verify
// that nothing else leaves the host. The package documentation lists them.

const (
	callOptimize = "optimize"
	callCompress = "compress"

	canceled = "canceled"
	failed   = "failed"
	none     = "none"
)

// strategyOf names the plugin of a turn. The name is from a plugin file, not from a setting that matches none: this
// bounds the number of series.
func strategyOf(out *outcome.Outcome, err error) string {
	return cmp.Or(out.Strategy, failure.Of(err).Plugin, none)
}

// outcomeOf returns the word for how a turn ended. An error's text would be unbounded, and may hold what people said.
func outcomeOf(err error) string {
	if err == nil {
		return "ok"
	}
	switch failure.Of(err).Kind {
	case failure.Overflow:
		return "overflow"
	case failure.Canceled:
		return canceled
	default:
		return "error"
	}
}

func bad(err error) string {
	if errors.Is(err, context.Canceled) {
		return canceled
	}
	return failed
}

// optimizeResult returns the words for the prune step, in the order of a turn.
func optimizeResult(out *outcome.Outcome, err error) (result, reason string) {
	o := &out.Optimize
	switch {
	case o.Skipped != "":
		return "skipped", word(o.Skipped, outcome.SkippedNotContinuous, outcome.SkippedClean, outcome.SkippedGated,
			outcome.SkippedHeld)
	case o.Kind == "", err != nil && out.Compress.Reason == "":
		return bad(err), "" // if it had succeeded, the error would be the compress step's
	case o.Kind == outcome.KindHeld:
		return "held", decision(o.Decision.Reason)
	case o.Kind != outcome.KindApplied:
		return "noop", ""
	default:
		return "applied", decision(o.Decision.Reason)
	}
}

func decision(r outcome.DecisionReason) string {
	return word(
		r, outcome.DecidedEveryTurn, outcome.DecidedDue, outcome.DecidedEnough, outcome.DecidedCold,
		outcome.DecidedUncached, outcome.DecidedPays, outcome.DecidedTooLittle, outcome.DecidedTooCostly,
	)
}

func compressResult(c *outcome.Compress, err error) (result, reason string) {
	switch {
	case c.Kind == outcome.KindNoOp && c.Remembered:
		return "remembered", noOp(c.NoOp)
	case c.Kind == outcome.KindNoOp:
		return "noop", noOp(c.NoOp)
	case c.Kind == outcome.KindApplied && c.Ineffective:
		return "applied", string(outcome.NoOpIneffective)
	case c.Kind == outcome.KindApplied:
		return "applied", ""
	// The host remembered a failure and did not call the strategy.
	case c.Cooldown != nil:
		return "cooldown", ""
	default:
		return bad(err), ""
	}
}

// noOp returns other for a reason of the strategy's own.
func noOp(r sdk.NoOpReason) string {
	return word(
		r, sdk.NoOpEmptyHistory, sdk.NoOpTailCoversAll, sdk.NoOpAlreadyUnderTarget,
		sdk.NoOpNoGain, sdk.NoOpTooFew, sdk.NoOpShrunkBelowMinimum, outcome.NoOpIneffective,
		outcome.NoOpDoesNotPay,
	)
}

func trigger(r sdk.CompressReason) string {
	return word(r, sdk.ReasonThreshold, sdk.ReasonHardLimit, sdk.ReasonManual, sdk.ReasonCacheCold)
}

func rung(r outcome.Rung) string {
	return word(
		r, outcome.RungOptimize, outcome.RungCompress, outcome.RungResults, outcome.RungExchanges, outcome.RungHuman,
		outcome.RungLast, outcome.RungHuge,
	)
}

func word[W ~string](w W, known ...W) string {
	if slices.Contains(known, w) {
		return string(w)
	}
	return other
}

// failureOf returns which call of a plugin failed and why; "" if none did.
func failureOf(out *outcome.Outcome, err error) (call, reason string) {
	switch {
	// A caller that gave up is not a plugin's failure.
	case errors.Is(err, context.Canceled):
		return "", ""
	case err == nil:
		return "", ""
	}
	d := failure.Of(err)
	switch {
	case d.Reason == "":
		return "", ""
	case d.Call != "":
		return d.Call, d.Reason
	// An answer is judged outside of the plugin's process, so the error does not name the call.
	case out.Compress.Reason != "":
		return callCompress, d.Reason
	default:
		return callOptimize, d.Reason
	}
}
