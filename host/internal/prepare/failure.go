package prepare

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/internal/failure"
	"github.com/thresh-dev/thresh/sdk"
)

// CompressError says that a Compress failed. The history is unchanged, and no other strategy was tried.
type CompressError struct {
	Strategy string
	// Profile is the LLM profile of the call; "" for a strategy without a model.
	Profile string
	// Retryable: the same Compress may succeed later.
	Retryable bool
	// Model is the error of the model's provider; nil if it did not fail.
	Model error
	// Err is the strategy's or its plugin's.
	Err error
}

func (e *CompressError) Error() string {
	text := "compress with " + e.Strategy
	if e.Profile != "" {
		text += " (profile " + e.Profile + ")"
	}
	text += ": " + e.Err.Error()
	if e.Model != nil && !strings.Contains(text, e.Model.Error()) { // strategies usually wrap it
		text += "; the model call failed: " + e.Model.Error()
	}
	switch {
	case e.Retryable:
		return text + "; a retry may help"
	case errors.Is(e.Err, context.Canceled):
		return text
	default:
		return text + "; a retry without a change will not help"
	}
}

// Unwrap returns the strategy's error and the model's.
func (e *CompressError) Unwrap() []error {
	if e.Model == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Model}
}

// Describe: the failure of a model is neither the plugin's fault nor the host's, and a limit is the payer's.
func (e *CompressError) Describe() failure.Description {
	d := failure.Of(e.Err)
	switch own := failure.Of(e.Model); {
	case e.Model == nil || d.Kind == failure.Canceled:
		return d
	case own.Kind == failure.Setting, own.Kind == failure.Limit:
		return own
	}
	return failure.Description{
		Kind: failure.Model, Retryable: e.Retryable, Plugin: e.Strategy, Call: "compress", Reason: "llm",
	}
}

// Calls is a set of what a strategy is asked for.
type Calls uint8

const (
	CallStart Calls = 1 << iota // a process that takes calls
	CallOptimize
	CallCompress
)

// fails is where every failure of the strategy ends: it could not be had, it failed, or its answer was refused. The
// turn fails with err, so that the agent sees it. If the strategy fails in the turns after that, too, a session that
// can send nothing would be worse than a turn without the strategy: then fails returns nil, and the turn goes on, over
// the hard limit only if the ladder may make room. A Compress that can wait for the agent to try again is left to it.
func (t *turn) fails(ctx context.Context, call Calls, err error) error {
	if ctx.Err() != nil || t.blocked { // not the strategy's
		return err
	}
	t.mu.Lock()
	if t.current() {
		t.known.Failing |= call
	}
	t.mu.Unlock()
	over := !t.fits()
	switch {
	case !t.failing, call == CallCompress && !over, call != CallOptimize && over && !t.req.Settings.Ladder:
		return err
	}
	t.outcome.Failures = append(t.outcome.Failures, err)
	if call != CallOptimize && over {
		t.outcome.Compress.Reason, t.outcome.Compress.Failed = sdk.ReasonHardLimit, err.Error()
	}
	without := "the turn goes on without it"
	if over {
		without = "the host makes room without it"
	}
	if call == CallOptimize {
		without = "nothing is pruned"
	}
	// What a process printed at last differs each time.
	line, _, _ := strings.Cut(err.Error(), "\n")
	t.warn("%s failed again, and %s: %s", t.info.Name, without, line)
	return nil
}

// works ends the failures of a call that has just succeeded. Only the process could be missing before it.
func (t *turn) works(call Calls) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current() {
		t.known.Failing &^= call | CallStart
	}
}

// compressFailed starts the cooldown after a failure that no retry helps, unless the turn was cancelled.
func (t *turn) compressFailed(ctx context.Context, err error) error {
	var known *CompressError
	if !errors.As(err, &known) {
		err = fmt.Errorf("compress with %s: its answer was refused: %w", t.info.Name, err)
	}
	cooldown := t.req.Settings.Cooldown
	if ctx.Err() == nil && cooldown > 0 && (known == nil || !known.Retryable) {
		t.mu.Lock()
		if t.current() {
			t.known.Failure = &Failure{Strategy: t.info.Name, Until: t.now().Add(cooldown), Error: err.Error()}
		}
		t.mu.Unlock()
	}
	return t.fails(ctx, CallCompress, err)
}

// warnCooldown adds a warning for a turn that goes on although the strategy failed before. The request is over the
// threshold then, and only the hard limit makes it smaller.
func (t *turn) warnCooldown() {
	if c := t.outcome.Compress.Cooldown; c != nil {
		t.warn("%s failed and is not asked again before %s, while the history stays over the threshold: %s",
			t.info.Name, c.Until.Format(time.RFC3339), c.Error)
	}
}

// cooldown returns the failure whose cooldown has not passed yet; nil if there is none. A Compress by hand never waits.
func (t *turn) cooldown(reason sdk.CompressReason) *Failure {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.known.Failure
	if reason == sdk.ReasonManual || f == nil || f.Strategy != t.info.Name || !t.now().Before(f.Until) {
		return nil
	}
	return f
}

// retryable reports whether a failed Compress may succeed later. If the model failed, its error decides.
func retryable(err, modelErr error) bool {
	if modelErr != nil {
		return errors.Is(modelErr, sdk.ErrUnavailable)
	}
	return failure.Of(err).Retryable
}
