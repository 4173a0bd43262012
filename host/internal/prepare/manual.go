package prepare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// ErrNotContinuous is returned by [Window.PlanOptimize] for a strategy that only compresses at the threshold.
var ErrNotContinuous = errors.New("the strategy has no optimize step: its trigger is threshold")

// PlanOptimize asks the strategy for one Optimize of the raw history and checks the answer. It changes nothing.
func (w *Window) PlanOptimize(ctx context.Context, req Request) (*history.Plan, outcome.Optimize, error) {
	w.turn.Lock()
	defer w.turn.Unlock()
	t := w.newTurn(req)
	if t.info.Trigger.Mode != contract.ModeContinuous {
		return nil, t.outcome.Optimize, fmt.Errorf("%s: %w", t.info.Name, ErrNotContinuous)
	}
	plan, err := t.planOptimize(ctx, w.history.Snapshot())
	if err != nil {
		return nil, t.outcome.Optimize, fmt.Errorf("optimize with %s: %w", t.info.Name, err)
	}
	out := &t.outcome.Optimize
	if !plan.Empty() {
		lowest, _ := plan.Touches(0)
		out.LowestChanged = &lowest
	}
	out.Ran, out.Removed, out.Replaced, out.TokensAfter = true, len(plan.Removals), len(plan.Replacements), plan.After
	return plan, *out, nil
}

// Compress compresses the history now, whatever the threshold says and whether or not the strategy had nothing to do
// before.
func (w *Window) Compress(ctx context.Context, req Request) (outcome.Outcome, error) {
	start := time.Now()
	w.turn.Lock()
	defer w.turn.Unlock()
	w.Reset()
	req.Generation = 0
	t := w.newTurn(req)
	t.outcome.Strategy, t.outcome.Limits = t.info.Name, t.limits()
	t.outcome.TokensBefore = t.view().Tokens
	_, err := t.compress(ctx, contract.ReasonManual)
	view := t.view()
	t.outcome.Tokens, t.outcome.Problems, t.outcome.Pending = view.Tokens, view.Problems, view.Pending
	t.outcome.Projected, t.outcome.Calibration = t.projected(view), t.calibrated()
	t.outcome.HostTime = time.Since(start) - t.outcome.WaitTime()
	return t.outcome, err
}

// Generation counts the resets: a turn whose settings were read before one does not mark anything as looked at.
func (w *Window) Generation() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.resets
}

// Reset makes the next turn look at everything anew: other settings may find what these did not.
func (w *Window) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.optimized, w.held, w.noop, w.failure, w.failures = 0, false, nil, nil, 0
	w.resets++
}
