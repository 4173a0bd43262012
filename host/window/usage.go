package window

import (
	"math"

	"github.com/thresh-dev/thresh/host/history"
	"github.com/thresh-dev/thresh/host/tokens"
)

// reported is what the provider counted for the last request, and what the window counted for it.
type reported struct {
	promptTokens, counted int
	epoch                 uint64
}

// ReportUsage takes the provider's count of the prompt that was sent after the last Prepare. counted is what that Prepare
// returned, pending tokens included. The next threshold check goes by it and by what was added since; any rewrite of the
// history ends that. What it says about how the provider counts stays: see [tokens.Calibration].
func (w *Window) ReportUsage(promptTokens, counted int) tokens.Calibration {
	epoch := w.history.Snapshot().Epoch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calibration.Observe(counted, promptTokens)
	w.reported = &reported{promptTokens: promptTokens, counted: counted, epoch: epoch}
	return w.calibration
}

// Calibrate takes the provider's count of a prompt for which counted was counted, whatever the history is now: of a recorded
// request, for example.
func (w *Window) Calibrate(counted, promptTokens int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calibration.Observe(counted, promptTokens)
}

// StartFrom makes the window count as others learned to, for the same model.
func (w *Window) StartFrom(c tokens.Calibration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calibration = c
}

// projected is what the provider will count for the next request: its own figure for the last one where it is known, and
// what came since; else the window's count, as calibrated.
func (t *turn) projected(view history.View) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	counted := view.Tokens + max(0, t.req.Pending)
	if r := t.reported; r != nil && r.epoch == t.history.Snapshot().Epoch && r.promptTokens > 0 {
		return r.promptTokens + int(math.Round(t.calibration.Ratio()*float64(counted-r.counted)))
	}
	return t.calibration.Estimate(counted)
}

// counted turns tokens of the provider into tokens as the window counts them, rounded up.
func (t *turn) counted(provider int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int(math.Ceil(float64(provider) / t.calibration.Ratio()))
}

// overhead is what the provider counts beside the history and the pending tokens, in tokens as the window counts them.
func (t *turn) overhead() int {
	t.mu.Lock()
	n := t.calibration.Overhead()
	t.mu.Unlock()
	return t.counted(n)
}

// calibrated says how the provider's count follows from the window's; nil while nothing was reported.
func (t *turn) calibrated() *Calibration {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.calibration
	if c.Samples() == 0 {
		return nil
	}
	return &Calibration{Ratio: c.Ratio(), Overhead: c.Overhead(), Samples: c.Samples()}
}
