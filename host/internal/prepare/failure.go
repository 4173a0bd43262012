package prepare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/thresh-dev/thresh/sdk/contract"
)

// failed turns what went wrong in a Compress into what the agent gets, and begins the cooldown if a retry cannot help.
func (t *turn) failed(ctx context.Context, err error) error {
	var known *CompressError
	if !errors.As(err, &known) {
		err = fmt.Errorf("compress with %s: %w", t.info.Name, err) // what it answered cannot be applied
	}
	if ctx.Err() != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.resets != t.Window.resets {
		return err // of settings that do not hold any more
	}
	t.failures++
	if (known != nil && known.Retryable) || t.req.Settings.Cooldown <= 0 {
		return err
	}
	t.failure = &failure{strategy: t.info.Name, until: t.now().Add(t.req.Settings.Cooldown), err: err}
	return err
}

func (t *turn) succeeded() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = 0
}

// goOnWithout reports whether a request that is over the hard limit is made to fit although its Compress failed. The first
// failure is the agent's to see (REQ-HD-013.4); if the next try fails too, a session that can send nothing is worse.
func (t *turn) goOnWithout(ctx context.Context, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.req.Settings.Ladder || ctx.Err() != nil || t.failures < 2 || t.outcome.Projected <= t.outcome.Limits.Hard {
		return false
	}
	t.outcome.Compress.Failed = err.Error()
	return true
}

// coolingDown returns the failure that a Compress for reason has to wait for, nil if there is none. Who asks by hand does
// not wait.
func (t *turn) coolingDown(reason contract.CompressReason) *failure {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.failure
	if reason == contract.ReasonManual || f == nil || f.strategy != t.info.Name || !t.now().Before(f.until) {
		return nil
	}
	return f
}

// retryable reports whether a Compress that failed may succeed if it is tried again.
func retryable(err, modelErr error) bool {
	if modelErr != nil {
		return errors.Is(modelErr, contract.ErrUnavailable)
	}
	var known interface{ MayRetry() bool } // see [Strategy]
	return errors.As(err, &known) && known.MayRetry()
}

// now is the time by the window's clock.
func (w *Window) now() time.Time {
	if w.Clock != nil {
		return w.Clock()
	}
	return time.Now()
}
