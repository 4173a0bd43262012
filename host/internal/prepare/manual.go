package prepare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
)

// ErrNotContinuous is returned by [Pipeline.PlanOptimize] for a strategy whose trigger is threshold.
var ErrNotContinuous = errors.New("the strategy has no optimize step: its trigger is threshold")

// PlanOptimize asks the strategy for one Optimize of the raw history, checks the answer, and applies nothing of it. It
// ignores the cadence and whether anything was added. The errors are [ErrNotContinuous], the strategy's, and those of
// [history.Snapshot.PlanOptimize].
func (p *Pipeline) PlanOptimize(ctx context.Context, req Request) (*history.Plan, outcome.Optimize, error) {
	// The plan is of the history as it is, which a concurrent Prepare may change.
	if err := p.wait(ctx); err != nil {
		return nil, outcome.Optimize{}, err
	}
	defer p.running.Release(1)
	t := p.newTurn(req)
	out := &t.outcome.Optimize
	if gone, is := req.Strategy.(*Missing); is {
		return nil, *out, gone.err
	}
	if t.info.Trigger.Mode != sdk.ModeContinuous {
		return nil, *out, fmt.Errorf("%s: %w", t.info.Name, ErrNotContinuous)
	}
	t.begin()
	if err := t.keep(); err != nil {
		return nil, *out, err
	}
	plan, err := t.planOptimize(ctx, t.snapshot())
	if err != nil {
		return nil, *out, fmt.Errorf("optimize with %s: %w", t.info.Name, err)
	}
	out.Kind = outcome.KindNoOp
	if !plan.Empty() {
		out.Kind = outcome.KindApplied
		lowest, _ := plan.Touches(0)
		out.LowestChanged = &lowest
	}
	out.Removed, out.Replaced = len(plan.Removals), len(plan.Replacements)
	out.TokensAfter = plan.After
	return plan, *out, nil
}

// Compress compresses the history now. It ignores the threshold, remembered no-ops and a cooldown. Errors are as for
// [Pipeline.Prepare], except that the hard limit is not checked.
func (p *Pipeline) Compress(ctx context.Context, req Request) (outcome.Outcome, error) {
	start := time.Now()
	if err := p.wait(ctx); err != nil {
		return outcome.Outcome{}, err
	}
	defer p.running.Release(1)
	// A user wants it tried, whatever an earlier turn remembered. What was optimised stays so: a Compress adds nothing.
	p.mu.Lock()
	k := &p.known
	k.NoOp, k.Failure, k.Failing, k.Stuck = nil, nil, 0, false
	p.mu.Unlock()
	t := p.newTurn(req)
	t.begin()
	_, err := t.missing(ctx)
	if err == nil {
		err = t.keep()
	}
	if err == nil {
		err = t.compress(ctx, sdk.ReasonManual)
	}
	t.refresh()
	t.outcome.Problems, t.outcome.Pending = t.view.Problems, t.view.Pending
	t.outcome.Calibration = t.reportedCalibration()
	t.outcome.HostTime = time.Since(start) - t.outcome.WaitTime()
	return t.outcome, err
}
