package prepare

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// turn is one Prepare, or one Compress by hand. It exists only while Pipeline.running is held, so its own fields need
// no lock.
type turn struct {
	*Pipeline
	req     Request
	info    sdk.Info
	version uint64 // Pipeline.version when its settings were read, see [turn.current]

	// failing: the strategy failed in an earlier turn, and what failed has not worked since.
	failing bool

	found   history.View    // what was safe to send when the turn began
	view    history.View    // and as the last step left it
	outcome outcome.Outcome // what was done so far
	blocked bool            // Request.Apply or Request.Compressing failed: no step can change the history now

	withheld *history.Plan // a Compress at the hard limit that gains too little to be made before the ladder; mostly nil
}

// run takes the steps of a turn. Each step that changes the history refreshes t.view and the counts in t.outcome: the
// next check is made against what is left.
func (t *turn) run(ctx context.Context) error {
	t.begin()
	t.outcome.Optimize.TokensAfter = t.view.Tokens
	if err := ctx.Err(); err != nil {
		return err
	}
	missing, err := t.missing(ctx)
	if err != nil {
		return err
	}
	if err := t.checkRoom(); err != nil {
		return err
	}
	if err := t.keep(); err != nil {
		return err
	}
	switch {
	case t.req.Thinking == ThinkingHeld:
		return t.hold()
	case missing:
		return t.withoutStrategy(ctx)
	}
	if err := t.optimize(ctx); err != nil {
		return err
	}
	defer t.recordStuck()
	reason := t.compressReason()
	if reason == sdk.ReasonHardLimit || reason != "" && t.info.RequiresLLM {
		if _, err := t.cutHuge(ctx, reason); err != nil {
			return err
		}
		reason = t.compressReason()
	}
	if reason == "" {
		return nil
	}
	if reason == sdk.ReasonHardLimit {
		if err := t.checkKept(); err != nil {
			return err
		}
	}
	if err := t.compress(ctx, reason); err != nil {
		return err
	}
	t.warnCooldown()
	if reason == sdk.ReasonHardLimit {
		return t.makeFit(ctx)
	}
	return nil
}

func (t *turn) recordStuck() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current() {
		t.known.Stuck = !t.belowThreshold()
	}
}

func (t *turn) begin() {
	t.outcome.Strategy = t.info.Name
	t.outcome.Limits = t.limits()
	if trigger, ok := t.earlyTrigger(); ok && trigger < t.outcome.Limits.Trigger && t.outcome.Limits.Hard > 0 {
		l := &t.outcome.Limits
		l.Trigger, l.Threshold, l.ThresholdFrom = trigger, trigger/float64(l.Hard), outcome.FromPrices
	}
	t.follow(t.history.SnapshotAt(t.req.UpTo))
	t.refresh()
	t.found, t.outcome.TokensBefore = t.view, t.view.Tokens
}

// limits resolves the threshold and the token limits that follow from it. A threshold in the settings takes precedence
// over what the strategy declares.
func (t *turn) limits() outcome.Limits {
	s := t.req.Settings
	l := outcome.Limits{
		Context: s.ContextLimit, Hard: s.ContextLimit - s.CompletionBudget,
		Threshold: t.info.Trigger.DefaultThreshold, ThresholdFrom: "strategy default",
		Early: t.info.Trigger.EarlyThreshold,
	}
	if s.Threshold != nil { // whoever set it said when
		l.Threshold, l.ThresholdFrom, l.Early = *s.Threshold, "setting", 0
	}
	l.Trigger = l.Threshold * float64(l.Hard)
	return l
}

func (t *turn) refresh() {
	t.view = t.history.MarkedAt(t.req.UpTo, t.req.Marks, t.counter.Entry)
	t.outcome.Tokens, t.outcome.Projected = t.view.Tokens, t.projected(t.view)
}

// belowThreshold reports whether no Compress is due. It compares the provider's expected count, pending tokens
// included, because that is what the model's limit applies to.
func (t *turn) belowThreshold() bool { return float64(t.outcome.Projected) < t.outcome.Limits.Trigger }

func (t *turn) fits() bool { return t.outcome.Projected <= t.outcome.Limits.Hard }

// compressReason returns why a Compress is due; "" if none is.
func (t *turn) compressReason() sdk.CompressReason {
	switch {
	case !t.fits():
		return sdk.ReasonHardLimit
	case t.coldDue():
		return sdk.ReasonCacheCold
	case t.belowThreshold():
		return ""
	case !t.thresholdReachable():
		t.warnUnreachable(t.outcome.Limits)
		return ""
	default:
		return sdk.ReasonThreshold
	}
}

func (t *turn) call(s history.Snapshot, entries []*history.Entry) Call {
	t.follow(s)
	return Call{
		CallParams: sdk.CallParams{
			CallSettings: t.req.Settings.CallSettings, SessionID: t.sessionID, Revision: s.Revision,
		},
		Epoch: s.Epoch, Entries: entries, Tools: t.req.Settings.Tools, Dirs: &t.dirs,
	}
}

// follow must see what was added before it is rewritten.
func (t *turn) follow(s history.Snapshot) {
	t.dirs.Follow(len(s.Entries), s.Added, s.Epoch > 0, func(i int) (string, content.Content) {
		return s.Entries[i].ID, s.Entries[i].Content
	}, t.req.Settings.Tools)
}

// apply carries out a plan and records what it changed, under the name of the step.
func (t *turn) apply(plan *history.Plan, step string) error {
	if t.req.Apply != nil {
		if err := t.req.Apply(plan, step); err != nil {
			t.blocked = true
			return err
		}
	} else if _, err := t.history.Apply(plan); err != nil {
		return err
	}
	changes := plan.Changes()
	for i := range changes {
		changes[i].Step = step
	}
	now := t.history.Snapshot()
	t.req.Strategy.Rewritten(t.call(now, now.Entries))
	t.outcome.Changes = append(t.outcome.Changes, changes...)
	if g := plan.Gone(); g.Human+g.AI > 0 {
		if t.outcome.Gone == nil {
			t.outcome.Gone = &outcome.Gone{}
		}
		t.outcome.Gone.Human += g.Human
		t.outcome.Gone.AI += g.AI
	}
	return nil
}

// current reports whether the settings of this turn are still in force: only then what it learned may be remembered.
// Callers hold t.mu.
func (t *turn) current() bool { return t.version == t.Pipeline.version }

func (t *turn) snapshot() history.Snapshot {
	s := t.history.SnapshotAt(t.req.UpTo)
	s.Tools = t.req.Settings.Tools
	return s
}
