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

// ineffective is the share of the tokens that a Compress must remove to be worth repeating for the same history: below
// a twentieth the next turn would be at the threshold again, and pay for the same summary.
const ineffective = 0.05

// compress is the compress step: the strategy makes the curated history smaller. It is skipped if the strategy had
// nothing to do with the same history before, and during the cooldown after a non-retryable error. Errors are the
// strategy's (a [*CompressError]), its answer's ([history.AnswerError]), and ctx's. Without one, the strategy may have
// failed all the same, see [turn.fails].
func (t *turn) compress(ctx context.Context, reason sdk.CompressReason) error {
	out := &t.outcome.Compress
	out.Reason = reason
	// What is added while the strategy works is not in it, and follows what the plan makes of it.
	snapshot := t.snapshot()
	if n := t.lastNoOp(snapshot); n != "" {
		out.Kind, out.NoOp, out.Remembered = outcome.KindNoOp, n, true
		return nil
	}
	if f := t.cooldown(reason); f != nil {
		out.Cooldown = &outcome.Cooldown{Until: f.Until, Error: f.Error}
		return nil
	}
	// The session may need a right to compress that other hosts respect; done gives it back.
	if t.req.Compressing != nil {
		done, err := t.req.Compressing(ctx)
		if err != nil { // not the strategy's: it starts no cooldown
			t.blocked = true
			return err
		}
		defer done()
	}
	snapshot, err := t.keepNewest()
	if err != nil {
		return err
	}
	plan, err := t.planCompress(ctx, snapshot, reason)
	if plan != nil && !t.info.RequiresLLM {
		plan, snapshot, err = t.planWithoutHuge(ctx, plan, snapshot, reason)
	}
	if err != nil {
		return t.compressFailed(ctx, err)
	}
	// Even for a no-op: the plugin and its model answered.
	t.works(CallCompress)
	if plan == nil {
		t.leaves(snapshot.Tokens)
		t.rememberNoOp(snapshot, out.NoOp)
		return nil
	}
	t.leaves(plan.After)
	// A Compress on demand is wanted at any price, and a model call is paid already.
	if d, pays := t.needed(plan, snapshot, reason); !pays && out.LLM == nil {
		if out.Decision = &d; reason == sdk.ReasonHardLimit {
			t.withheld = plan
		}
		out.Kind, out.NoOp = outcome.KindNoOp, outcome.NoOpDoesNotPay
		// As if it had not been asked, in figures too.
		out.TokensAfter, out.EntriesAfter = out.TokensBefore, out.EntriesBefore
		t.rememberNoOp(snapshot, out.NoOp)
		return nil
	} else if out.LLM == nil && (reason == sdk.ReasonThreshold || reason == sdk.ReasonCacheCold) {
		out.Decision = &d
	}
	return t.applyCompress(plan, snapshot)
}

// needed says whether to apply a Compress. At the threshold and after a pause it must pay. At the hard limit it must be
// enough, or gain so much that the ladder has less to do for long.
func (t *turn) needed(
	plan *history.Plan, s history.Snapshot, reason sdk.CompressReason,
) (d outcome.Decision, apply bool) {
	switch reason {
	case sdk.ReasonThreshold:
		d = t.pays(plan, s)
	case sdk.ReasonCacheCold:
		d = t.paysCold(plan, s)
	case sdk.ReasonHardLimit:
		d = outcome.Decision{Saves: s.Tokens - plan.After, Reason: outcome.DecidedTooLittle}
		missing := t.hostTokens(t.outcome.Projected - t.outcome.Limits.Hard)
		enough := missing
		if t.req.Settings.Ladder {
			enough = min(missing, int(ineffective*float64(s.Tokens)))
		}
		return d, d.Saves >= enough
	}
	return d, applies(d)
}

// applyCompress applies a plan, and remembers it as a no-op if it gained too little to be made again.
func (t *turn) applyCompress(plan *history.Plan, snapshot history.Snapshot) error {
	out := &t.outcome.Compress
	out.Kind, out.TokensAfter, out.EntriesAfter = outcome.KindApplied, plan.After, plan.Len()
	if err := t.apply(plan, outcome.StepCompress); err != nil {
		out.Kind = ""
		return fmt.Errorf("apply what %s compressed: %w", t.info.Name, err)
	}
	if gained := out.TokensBefore - out.TokensAfter; float64(gained) < ineffective*float64(out.TokensBefore) {
		out.Ineffective = true
		t.rememberNoOp(snapshot, outcome.NoOpIneffective)
	}
	t.refresh()
	return nil
}

// planCompress asks the strategy and checks its answer. It does not change the history. A nil plan is a no-op.
func (t *turn) planCompress(
	ctx context.Context, s history.Snapshot, reason sdk.CompressReason,
) (*history.Plan, error) {
	out := &t.outcome.Compress
	set := t.req.Settings
	curated := history.Curate(s.Entries)
	current := 0
	for _, e := range curated {
		current += e.Tokens
	}
	services := newServices(t.counter, set, curated)
	start := time.Now()
	answer, err := t.req.Strategy.Compress(ctx, CompressCall{
		Call: t.call(s, curated), CompressParams: t.compressParams(current, reason),
	}, services)
	out.PluginTime = time.Since(start)
	// Before the error is looked at: what was spent is reported in any case.
	modelErr := t.accountLLM(services)
	if err != nil {
		return nil, &CompressError{
			Strategy: t.info.Name, Profile: set.LLM.profile(),
			Model: modelErr, Retryable: retryable(err, modelErr), Err: err,
		}
	}
	out.TokensBefore, out.TokensAfter = current, current
	out.EntriesBefore, out.EntriesAfter = len(curated), len(curated)
	out.Metadata = answer.Metadata
	if answer.NoOp != "" {
		out.Kind, out.NoOp = outcome.KindNoOp, answer.NoOp
		return nil, nil
	}
	plan, err := s.PlanCompress(ctx, curated, t.info.Name, answer.Pieces, services.counts)
	if err != nil {
		return nil, err
	}
	// Fewer entries at the same size are still a gain.
	if plan.After > current || plan.After == current && plan.Len() == len(curated) {
		out.Kind, out.NoOp = outcome.KindNoOp, sdk.NoOpNoGain
		return nil, nil
	}
	out.Kind = outcome.KindApplied
	out.TokensAfter, out.EntriesAfter = plan.After, plan.Len()
	return plan, nil
}

// compressParams returns every token count in tokens as the host counts, so the strategy can compare and subtract them.
func (t *turn) compressParams(current int, reason sdk.CompressReason) sdk.CompressParams {
	set := t.req.Settings
	params := sdk.CompressParams{
		CompressSettings: set.CompressSettings,
		CurrentTokens:    current,
		PendingTokens:    t.extraTokens(),
		Threshold:        t.outcome.Limits.Threshold,
		Reason:           reason,
		Profile:          set.LLM.profile(),
		Model:            set.LLM.model(),
	}
	params.Depth = t.depth()
	params.ContextLimit = t.hostTokens(set.ContextLimit)
	params.CompletionBudget = t.hostTokens(set.CompletionBudget)
	return params
}

// accountLLM records what the strategy's model calls cost, and subtracts their time from the plugin's. It returns the
// last error of the model, unless the call only ended because the Compress was cancelled.
func (t *turn) accountLLM(s *services) error {
	out := &t.outcome.Compress
	spent, err := s.budget.account()
	out.LLM = spent
	if spent != nil {
		out.PluginTime -= min(spent.Time, out.PluginTime)
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// lastNoOp returns why the strategy did nothing with this history last time; "" if it was not asked or did something.
// The same strategy and count of added entries mean the same history: rewrites follow from what was added.
func (t *turn) lastNoOp(s history.Snapshot) sdk.NoOpReason {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.known.NoOp; n != nil && n.Strategy == t.info.Name && n.Added == s.Added {
		return n.Reason
	}
	return ""
}

// leaves remembers how many tokens a Compress leaves: no other should be made before that pays again.
func (t *turn) leaves(tokens int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current() {
		t.known.Left = tokens
	}
}

// rememberNoOp keeps the strategy from being asked again until something is added to the history.
func (t *turn) rememberNoOp(s history.Snapshot, reason sdk.NoOpReason) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// Other settings may give another answer.
	if t.current() {
		t.known.NoOp = &NoOp{Strategy: t.info.Name, Added: s.Added, Reason: reason}
	}
}
