package prepare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// compress runs the strategy's Compress over the curated history.
func (t *turn) compress(ctx context.Context, reason contract.CompressReason) (applied bool, err error) {
	out := &t.outcome.Compress
	out.Reason = reason
	snapshot := t.history.Snapshot()
	if n := t.lastNoOp(snapshot); n != "" {
		out.Kind, out.NoOp, out.Remembered = outcome.KindNoOp, n, true
		return false, nil
	}
	if f := t.coolingDown(reason); f != nil {
		out.Cooldown = &outcome.Cooldown{Until: f.until, Error: f.err.Error()}
		return false, nil
	}
	plan, err := t.planCompress(ctx, snapshot, reason)
	if err != nil {
		return false, t.failed(ctx, err)
	}
	t.succeeded()
	if plan == nil {
		t.rememberNoOp(snapshot, out.NoOp)
		return false, nil
	}
	if err := t.apply(plan, outcome.StepCompress); err != nil {
		out.Kind = ""
		return false, fmt.Errorf("apply what %s compressed: %w", t.info.Name, err)
	}
	if gained := out.TokensBefore - out.TokensAfter; float64(gained) < ineffective*float64(out.TokensBefore) {
		out.Ineffective = true
		t.rememberNoOp(snapshot, outcome.NoOpIneffective)
	}
	return true, nil
}

// planCompress asks the strategy and checks what it answers. A nil plan is a no-op. It changes nothing.
func (t *turn) planCompress(ctx context.Context, s history.Snapshot, reason contract.CompressReason) (*history.Plan, error) {
	out := &t.outcome.Compress
	curated := history.Curate(s.Entries)
	current := 0
	for _, e := range curated {
		current += e.Tokens
	}
	set := t.req.Settings
	services := newServices(t.counter, set, curated)
	start := time.Now()
	params := contract.CompressParams{
		CompressSettings: set.CompressSettings,
		CurrentTokens:    current, PendingTokens: t.beside(),
		Threshold: t.outcome.Limits.Threshold, Reason: reason,
		Profile: set.LLM.profile(), Model: set.LLM.model(),
	}
	params.ContextLimit = t.counted(set.ContextLimit)
	params.CompletionBudget = t.counted(set.CompletionBudget)
	call := CompressCall{Call: t.call(s, curated), CompressParams: params}
	answer, err := t.req.Strategy.Compress(ctx, call, services)
	out.PluginTime = time.Since(start)
	spent, modelErr := services.purse.account()
	out.LLM = spent
	if spent != nil {
		out.PluginTime -= min(spent.Time, out.PluginTime)
	}
	if errors.Is(modelErr, context.Canceled) {
		modelErr = nil // the model call ended because the Compress did
	}
	if err != nil {
		return nil, &CompressError{Strategy: t.info.Name, Profile: set.LLM.profile(), Model: modelErr, Retryable: retryable(err, modelErr), Err: err}
	}
	out.TokensBefore, out.TokensAfter = current, current
	out.EntriesBefore, out.EntriesAfter = len(curated), len(curated)
	out.Metadata = answer.Metadata
	if answer.NoOp != "" {
		out.Kind, out.NoOp = outcome.KindNoOp, answer.NoOp
		return nil, nil
	}
	plan, err := s.PlanCompress(curated, answer.Pieces, func(c []content.Content) ([]history.Count, error) { return services.counts(ctx, c) })
	if err != nil {
		return nil, err
	}
	if plan.After > current || (plan.After == current && plan.Len() == len(curated)) {
		out.Kind, out.NoOp = outcome.KindNoOp, contract.NoOpNoGain
		return nil, nil
	}
	out.Kind = outcome.KindApplied
	out.TokensAfter, out.EntriesAfter = plan.After, plan.Len()
	return plan, nil
}

func (t *turn) lastNoOp(s history.Snapshot) contract.NoOpReason {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.noop; n != nil && n.strategy == t.info.Name && n.added == s.Added {
		return n.reason
	}
	return ""
}

func (t *turn) rememberNoOp(s history.Snapshot, reason contract.NoOpReason) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.resets == t.Window.resets {
		t.noop = &noop{strategy: t.info.Name, added: s.Added, reason: reason}
	}
}
