package prepare

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// Counter counts entries in tokens. One entry's count does not depend on the others.
type Counter interface {
	Entry(c content.Content) int
	All(ctx context.Context, entries []content.Content) ([]history.Count, error)
}

// Settings are what a window needs of the configuration, resolved for one turn.
type Settings struct {
	// Threshold is nil when nobody set one: then the strategy's default counts (REQ-HD-001.10).
	Threshold *float64
	// What a strategy is told as it is. ContextLimit and CompletionBudget are the provider's tokens here; a strategy gets
	// them as the host counts.
	contract.CallSettings
	contract.OptimizeParams
	contract.CompressSettings
	// Tools is the tool taxonomy in force, as JSON.
	Tools []byte
	// LLM is nil for a strategy that needs no model. Prompt finds the prompt in force.
	LLM    *LLM
	Prompt func(ctx context.Context, name string) (string, error)
	// Cadence says when the density step may change the history; OptimizeThreshold, a share of the context limit, and
	// MinSavings, in tokens, are for [outcome.CadenceGated], Prices for [outcome.CadencePriced], which is [outcome.CadenceEveryTurn] without them.
	Cadence           outcome.Cadence
	OptimizeThreshold float64
	MinSavings        int
	Prices            *pricing.List
	// Ladder makes room under the hard limit without a strategy where Compress was not enough.
	Ladder bool
	// Cooldown is how long a Compress is not tried again after an error that a retry cannot help.
	Cooldown time.Duration
}

// Window runs the turns of one session, one at a time. Entries may be added to the history at any time.
type Window struct {
	// Clock tells the time for cooldowns; nil is the system's.
	Clock func() time.Time

	sessionID string
	history   *history.History
	counter   Counter

	turn sync.Mutex // held while a turn runs

	mu        sync.Mutex // guards what follows
	optimized uint64     // Snapshot.Added of the last Optimize: the history is dirty while more was added (REQ-HD-002.6)
	held      bool       // what that Optimize would prune was not pruned
	noop      *noop
	failure   *failure
	failures  int    // Compress calls that failed in a row
	resets    uint64 // counts from 1

	calibration tokens.Calibration
	sent        sent
	pace        pace
}

// noop remembers a Compress that had nothing to do, so that it is not asked again for the same history.
type noop struct {
	strategy string
	added    uint64
	reason   contract.NoOpReason
}

// failure remembers a Compress that failed for good, so that it is not tried on every turn.
type failure struct {
	strategy string
	until    time.Time
	err      error
}

// New returns the window of a session over its history.
func New(sessionID string, h *history.History, counter Counter) *Window {
	return &Window{sessionID: sessionID, history: h, counter: counter, resets: 1}
}

// Request is one turn.
type Request struct {
	Strategy Strategy
	Settings Settings
	// Pending is how many tokens the next request adds to the history: a prompt not added yet, tool schemas.
	Pending int
	// Generation is what [Window.Generation] was when the settings were read; 0 is what it is now.
	Generation uint64
	// At is when the request is sent; zero is now.
	At time.Time
	// Keep is called before the history is rewritten, with everything that the rewrite is about added to it. Its error ends
	// the turn, and the history stays as it is. Nil keeps nothing.
	Keep func() error
}

// Prepare makes the history ready to be sent, and says what it did.
//
// An error leaves the history valid: as it was, or as the last finished step left it. It is passed on as it is; no other
// strategy is tried (REQ-HD-013). [ContextOverflowError] says that everything was done and the request is still too large.
func (w *Window) Prepare(ctx context.Context, req Request) (history.View, outcome.Outcome, error) {
	start := time.Now()
	w.turn.Lock()
	defer w.turn.Unlock()
	req.Pending = min(max(0, req.Pending), maxPending)
	t := w.newTurn(req)
	view, err := t.run(ctx)
	t.outcome.Problems, t.outcome.Pending = view.Problems, view.Pending
	t.outcome.Stable, t.outcome.Calibration = t.stable(view), t.calibrated()
	if overflow := (*ContextOverflowError)(nil); !errors.As(err, &overflow) && ctx.Err() == nil {
		t.remember(view) // else nothing can be sent
	}
	t.outcome.HostTime = time.Since(start) - t.outcome.WaitTime()
	return view, t.outcome, err
}

// turn is one Prepare.
type turn struct {
	*Window
	req     Request
	info    contract.Info
	outcome outcome.Outcome
	resets  uint64 // Window.resets when it began: what it learns does not hold after another
}

// maxPending is more than any model takes, and little enough to be added to.
const maxPending = math.MaxInt32

func (w *Window) newTurn(req Request) turn {
	w.mu.Lock()
	defer w.mu.Unlock()
	return turn{Window: w, req: req, info: req.Strategy.Info(), resets: cmp.Or(req.Generation, w.resets)}
}

func (t *turn) run(ctx context.Context) (history.View, error) {
	view := t.view()
	t.outcome.Strategy = t.info.Name
	t.outcome.Limits = t.limits()
	t.outcome.TokensBefore = view.Tokens
	t.outcome.Optimize.TokensAfter = view.Tokens
	t.show(view)
	if err := ctx.Err(); err != nil {
		return view, err
	}

	applied, err := t.optimize(ctx)
	if applied {
		view = t.view()
		t.outcome.Optimize.TokensAfter = view.Tokens
		t.show(view)
	}
	if err != nil || float64(t.outcome.Projected) < t.outcome.Limits.Trigger {
		return view, err
	}

	reason := contract.ReasonThreshold
	if t.outcome.Projected > t.outcome.Limits.Hard {
		reason = contract.ReasonHardLimit
	}
	applied, err = t.compress(ctx, reason)
	if applied {
		view = t.view()
		t.show(view)
	}
	if err != nil && !t.goOnWithout(ctx, err) || t.outcome.Projected <= t.outcome.Limits.Hard {
		return view, err
	}

	if t.req.Settings.Ladder {
		t.usualRungs()
	}
	for t.req.Settings.Ladder && t.outcome.Projected > t.outcome.Limits.Hard {
		applied, err := t.descend(ctx, view, t.outcome.Projected-t.outcome.Limits.Hard)
		if err != nil {
			return view, err
		}
		if !applied {
			break
		}
		view = t.view()
		t.show(view)
	}
	if t.outcome.Projected > t.outcome.Limits.Hard {
		return view, t.overflow(view)
	}
	return view, nil
}

// show puts into the outcome what the request counts now.
func (t *turn) show(view history.View) {
	t.outcome.Tokens, t.outcome.Projected = view.Tokens, t.projected(view)
}

func (t *turn) view() history.View { return t.history.View(t.counter.Entry) }

// limits resolves the threshold (REQ-HD-001.10) and what follows from it.
func (t *turn) limits() outcome.Limits {
	s := t.req.Settings
	l := outcome.Limits{Context: s.ContextLimit, Hard: s.ContextLimit - s.CompletionBudget, Threshold: t.info.Trigger.DefaultThreshold, ThresholdFrom: "strategy default"}
	if s.Threshold != nil {
		l.Threshold, l.ThresholdFrom = *s.Threshold, "setting"
	}
	l.Trigger = l.Threshold * float64(l.Hard)
	return l
}

func (t *turn) call(s history.Snapshot, entries []*history.Entry) Call {
	return Call{
		CallParams: contract.CallParams{
			SessionID: t.sessionID, Revision: s.Revision, CallSettings: t.req.Settings.CallSettings,
		},
		Epoch: s.Epoch, Entries: entries, Tools: t.req.Settings.Tools,
	}
}

// apply carries a plan out and takes down what it changed in which step.
func (t *turn) apply(plan *history.Plan, step string) error {
	if t.req.Keep != nil {
		if err := t.req.Keep(); err != nil {
			return err
		}
	}
	if _, err := t.history.Apply(plan); err != nil {
		return err
	}
	changes := plan.Changes()
	for i := range changes {
		changes[i].Step = step
	}
	t.outcome.Changes = append(t.outcome.Changes, changes...)
	return nil
}
