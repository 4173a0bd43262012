package prepare

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/keep"
	"github.com/thresh-dev/thresh/host/internal/shell"
	"github.com/thresh-dev/thresh/host/outcome"
)

// Pipeline runs the turns of one session, one at a time. Entries may be added to the history at any time. A Pipeline is
// safe for concurrent use; the package documentation has the locking rules.
type Pipeline struct {
	// Clock is the time for cooldowns and cache expiry; nil is time.Now. Set it before the first turn.
	Clock func() time.Time

	sessionID string
	history   *history.History
	counter   Counter

	running *semaphore.Weighted // of one; held while a turn runs
	dirs    shell.Dirs
	keeper  keep.Keeper // guarded by running

	mu    sync.Mutex // guards what follows
	known State
	// version counts resets, from 1. A turn does not store what it learned under settings that have changed since.
	version uint64
}

// New returns the pipeline of a session. The entries of h must be counted with counter.
func New(sessionID string, h *history.History, counter Counter) *Pipeline {
	return &Pipeline{sessionID: sessionID, history: h, counter: counter, version: 1, running: semaphore.NewWeighted(1)}
}

// Prepare runs one turn. It returns the history as it is safe to send, and what was done to it.
//
// An error leaves the history valid: as it was, or as the last completed step left it. It is the failed step's; no
// other strategy is tried. If the strategy failed in an earlier turn, too, this one may go on without it: turn.fails.
// A [ContextOverflowError] means that every step was taken and the request is still too large. A [CompressError] says
// whether a retry may help. A turn waits for the one before it; if ctx ends meanwhile, it takes no step and returns the
// history as it is.
func (p *Pipeline) Prepare(ctx context.Context, req Request) (history.View, outcome.Outcome, error) {
	start := time.Now()
	req.Pending = min(max(0, req.Pending), maxPending)
	if err := p.wait(ctx); err != nil {
		t := p.newTurn(req)
		t.begin()
		t.outcome.Problems, t.outcome.Pending = t.view.Problems, t.view.Pending
		return t.view, t.outcome, err
	}
	defer p.running.Release(1)
	t := p.newTurn(req)
	err := t.run(ctx)
	// Also after an error: an earlier step may have changed what was sent.
	if thinking := t.unseal(t.found); err == nil {
		err = thinking
	}
	t.outcome.Problems, t.outcome.Pending = t.view.Problems, t.view.Pending
	t.outcome.Stable, t.outcome.Calibration = t.stable(), t.reportedCalibration()
	if overflow := (*ContextOverflowError)(nil); !errors.As(err, &overflow) && ctx.Err() == nil {
		t.recordSent() // otherwise the agent cannot send the request
	}
	t.outcome.HostTime = time.Since(start) - t.outcome.WaitTime()
	return t.view, t.outcome, err
}

// wait waits for the turn before this one, or for the end of ctx. Without an error the caller holds running, and
// releases it.
func (p *Pipeline) wait(ctx context.Context) error {
	if p.running.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	return nil
}

// maxPending is more tokens than any model takes, and small enough that sums do not overflow.
const maxPending = math.MaxInt32

func (p *Pipeline) newTurn(req Request) *turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &turn{
		Pipeline: p, req: req, info: req.Strategy.Info(),
		version: cmp.Or(req.SettingsVersion, p.version), failing: p.known.Failing != 0,
	}
}

// SettingsVersion changes with every [Pipeline.Reset]. Read it before the settings and pass it in
// [Request.SettingsVersion]: a turn whose settings were read before a Reset then remembers nothing for later turns.
func (p *Pipeline) SettingsVersion() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version
}

// Reset forgets what earlier turns found out about the history: what was optimised, no-ops, failures and cooldowns.
// Call it when settings change, because other settings may find what these did not. The calibration is kept.
func (p *Pipeline) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = State{Calibration: p.known.Calibration, Growth: p.known.Growth, Sent: p.known.Sent}
	p.version++
}

func (p *Pipeline) now() time.Time {
	if p.Clock != nil {
		return p.Clock()
	}
	return time.Now()
}
