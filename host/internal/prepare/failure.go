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

// Describe: the failure of a model is neither the plugin's fault nor the host's.
func (e *CompressError) Describe() failure.Description {
	d := failure.Of(e.Err)
	switch own := failure.Of(e.Model); {
	case e.Model == nil || d.Kind == failure.Canceled:
		return d
	case own.Kind == failure.Setting:
		return own
	}
	return failure.Description{
		Kind: failure.Model, Retryable: e.Retryable, Plugin: e.Strategy, Call: "compress", Reason: "llm",
	}
}

// compressFailed returns the error for the agent, counts the failure, and starts the cooldown after a non-retryable
// error. A cancelled turn does not count.
func (t *turn) compressFailed(ctx context.Context, err error) error {
	var known *CompressError
	if !errors.As(err, &known) {
		err = fmt.Errorf("compress with %s: its answer was refused: %w", t.info.Name, err)
	}
	if ctx.Err() != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.current() {
		return err
	}
	t.known.Failures++
	cooldown := t.req.Settings.Cooldown
	if known != nil && known.Retryable || cooldown <= 0 {
		return err
	}
	t.known.Failure = &Failure{Strategy: t.info.Name, Until: t.now().Add(cooldown), Error: err.Error()}
	return err
}

// compressSucceeded ends a series of failures. A no-op is a success too.
func (t *turn) compressSucceeded() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known.Failures = 0
}

// continuesWithout reports whether the ladder makes room although the Compress failed. The agent must see the first
// failure. If the retry fails too, dropping the oldest entries is better than a session that can send
// nothing.
func (t *turn) continuesWithout(ctx context.Context, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.req.Settings.Ladder || t.blocked || ctx.Err() != nil || t.known.Failures < 2 || t.fits() {
		return false
	}
	t.outcome.Compress.Failed = err.Error()
	return true
}

// warnFailure adds a warning for a turn that continues although the strategy failed, in this turn or before. The
// request is over the threshold then, and only the hard limit makes it smaller.
func (t *turn) warnFailure() {
	switch c := t.outcome.Compress; {
	case c.Failed != "":
		t.warn("%s failed again, and the host makes room without it: %s", t.info.Name, c.Failed)
	case c.Cooldown != nil:
		t.warn("%s failed and is not asked again before %s, while the history stays over the threshold: %s",
			t.info.Name, c.Cooldown.Until.Format(time.RFC3339), c.Cooldown.Error)
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
