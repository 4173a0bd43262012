package prepare

import (
	"context"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// optimize runs the density step if there is anything new to look at (REQ-HD-002.1 to .7), and if the cadence lets it.
func (t *turn) optimize(ctx context.Context) (applied bool, err error) {
	out := &t.outcome.Optimize
	snapshot := t.history.Snapshot()
	due := float64(t.outcome.Projected) >= t.outcome.Limits.Trigger
	switch {
	case t.info.Trigger.Mode != contract.ModeContinuous:
		out.Skipped = outcome.SkippedNotContinuous
		return false, nil
	case !t.dirty(snapshot, due):
		out.Skipped = outcome.SkippedClean
		return false, nil
	case t.gateClosed(due):
		out.Skipped = outcome.SkippedGated
		out.Decision.Cadence = outcome.CadenceGated
		return false, nil
	}
	plan, err := t.planOptimize(ctx, snapshot)
	t.clean(snapshot, false) // whatever came of it (REQ-HD-002.7)
	if err != nil {
		return false, fmt.Errorf("optimize with %s: %w", t.info.Name, err)
	}
	out.Ran = true
	if plan.Empty() { // REQ-HD-002.5
		return false, nil
	}
	lowest, _ := plan.Touches(0)
	out.LowestChanged = &lowest
	var apply bool
	if out.Decision, apply = t.decide(plan, snapshot, due); !apply {
		out.Held = true
		t.clean(snapshot, true)
		return false, nil
	}
	out.Removed, out.Replaced = len(plan.Removals), len(plan.Replacements)
	if err := t.apply(plan, outcome.StepOptimize); err != nil {
		return false, fmt.Errorf("apply what %s pruned: %w", t.info.Name, err)
	}
	return true, nil
}

// dirty reports whether an Optimize may find something: entries were added, or what was found before was left alone and is
// now due.
func (t *turn) dirty(s history.Snapshot, due bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.Added > t.optimized || t.held && due
}

func (t *turn) clean(s history.Snapshot, held bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.resets == t.Window.resets {
		t.optimized, t.held = max(t.optimized, s.Added), held
	}
}

// gateClosed reports whether the history is too small to be looked at (compression.density.optimizeThreshold). It stays
// dirty.
func (t *turn) gateClosed(due bool) bool {
	set := t.req.Settings
	return set.Cadence == outcome.CadenceGated && !due && float64(t.outcome.Projected) < set.OptimizeThreshold*float64(t.outcome.Limits.Hard)
}

// planOptimize asks the strategy and checks what it answers. It changes nothing.
func (t *turn) planOptimize(ctx context.Context, s history.Snapshot) (*history.Plan, error) {
	out := &t.outcome.Optimize
	start := time.Now()
	answer, err := t.req.Strategy.Optimize(ctx, OptimizeCall{
		Call:           t.call(s, s.Entries), // the raw history (REQ-HD-002.9)
		OptimizeParams: t.req.Settings.OptimizeParams,
	})
	out.PluginTime = time.Since(start)
	if err != nil {
		return nil, err
	}
	out.Metadata = answer.Metadata
	return s.PlanOptimize(answer.Edits, func(c []content.Content) ([]history.Count, error) { return t.counter.All(ctx, c) })
}
