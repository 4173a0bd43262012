package prepare

import (
	"context"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
)

// optimize is the density step: the strategy prunes the history. It runs if there is anything new to look at
// (REQ-HD-002.1 to .7), and changes the history if the cadence allows that now.
func (t *turn) optimize(ctx context.Context) error {
	out := &t.outcome.Optimize
	snapshot := t.snapshot()
	due := t.rewriteDue()
	switch {
	case t.info.Trigger.Mode != sdk.ModeContinuous:
		out.Skipped = outcome.SkippedNotContinuous
		return nil
	case !t.dirty(snapshot, due):
		out.Skipped = outcome.SkippedClean
		return nil
	case t.gateClosed(due):
		out.Skipped = outcome.SkippedGated
		out.Decision.Cadence = outcome.CadenceGated
		return nil
	}
	plan, err := t.planOptimize(ctx, snapshot)
	t.markOptimized(snapshot, false) // even after an error: the same history is not tried again (REQ-HD-002.7)
	if err != nil {
		return t.fails(ctx, CallOptimize, fmt.Errorf("optimize with %s: %w", t.info.Name, err))
	}
	t.works(CallOptimize)
	if plan.Empty() { // an empty result is no rewrite (REQ-HD-002.5)
		out.Kind = outcome.KindNoOp
		return nil
	}
	lowest, _ := plan.Touches(0)
	out.LowestChanged = &lowest
	if out.Decision = t.decide(plan, snapshot, due); !applies(out.Decision) {
		out.Kind = outcome.KindHeld
		would := out.Metadata
		out.HeldMetadata, out.Metadata = &would, sdk.DensityMetadata{} // it counts what was done: nothing
		t.markOptimized(snapshot, true)
		return nil
	}
	out.Removed, out.Replaced = len(plan.Removals), len(plan.Replacements)
	if err := t.apply(plan, outcome.StepOptimize); err != nil {
		return fmt.Errorf("apply what %s pruned: %w", t.info.Name, err)
	}
	t.refresh()
	out.Kind, out.TokensAfter = outcome.KindApplied, t.view.Tokens
	return nil
}

// rewriteDue reports whether the history is about to be rewritten anyway, so pruning it costs no prompt cache: a
// Compress is due. It is not if the last turn's Compress could not get the request below the threshold: this turn's may
// well do nothing.
func (t *turn) rewriteDue() bool {
	t.mu.Lock()
	stuck := t.known.Stuck
	t.mu.Unlock()
	return !t.fits() || !stuck && !t.belowThreshold() && t.thresholdReachable()
}

// dirty reports whether an Optimize may find something: entries were added since the last one, or the cadence held back
// edits that are due now.
func (t *turn) dirty(s history.Snapshot, due bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.Added > t.known.Optimized || t.known.Held && due
}

// markOptimized makes the history clean up to a snapshot. Entries added while the strategy worked are still dirty.
// held: the cadence held back the edits.
func (t *turn) markOptimized(s history.Snapshot, held bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current() {
		t.known.Optimized, t.known.Held = max(t.known.Optimized, s.Added), held
	}
}

// gateClosed reports whether the history is too small for an Optimize (compression.density.optimizeThreshold). The
// history is still dirty.
func (t *turn) gateClosed(due bool) bool {
	set := t.req.Settings
	gate := set.OptimizeThreshold * float64(t.outcome.Limits.Hard)
	return set.Cadence == outcome.CadenceGated && !due && float64(t.outcome.Projected) < gate
}

// planOptimize asks the strategy and checks its answer. The strategy gets the raw history, blank entries included,
// because its edits refer to positions in it (REQ-HD-002.9).
func (t *turn) planOptimize(ctx context.Context, s history.Snapshot) (*history.Plan, error) {
	out := &t.outcome.Optimize
	start := time.Now()
	answer, err := t.req.Strategy.Optimize(ctx, OptimizeCall{
		Call:           t.call(s, s.Entries),
		OptimizeParams: t.req.Settings.OptimizeParams,
	})
	out.PluginTime = time.Since(start)
	if err != nil {
		return nil, err
	}
	out.Metadata = answer.Metadata
	return s.PlanOptimize(ctx, answer.Edits, t.counter.All)
}
