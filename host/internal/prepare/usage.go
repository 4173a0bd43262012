package prepare

import (
	"math"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/outcome"
)

// ReportUsage takes the provider's count of the prompt that was sent after the last Prepare. counted is what that Prepare
// returned, pending tokens included. The next threshold check goes by it and by what was added or rewritten since.
func (w *Window) ReportUsage(promptTokens, counted int) tokens.Calibration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calibration.Observe(counted, promptTokens)
	return w.calibration
}

// Calibrate takes the provider's count of a prompt for which counted was counted, whatever the history is now: of a recorded
// request, for example.
func (w *Window) Calibrate(counted, promptTokens int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calibration.Observe(counted, promptTokens)
}

// StartFrom makes the window count as others learned to, for a model. What was sent to another model is in no cache of this
// one.
func (w *Window) StartFrom(c tokens.Calibration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calibration, w.sent = c, sent{}
}

// projected is what the provider will count for the next request.
func (t *turn) projected(view history.View) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calibration.Estimate(view.Tokens + max(0, t.req.Pending))
}

// counted turns tokens of the provider into tokens as the window counts them, rounded up.
func (t *turn) counted(provider int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int(math.Ceil(float64(provider) / t.calibration.Ratio()))
}

// beside is what the provider is expected to count beside the history, in tokens as the window counts them.
func (t *turn) beside() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	const some = 1 << 20 // so many that no bound of the calibration is met
	return max(0, int(math.Round(float64(t.calibration.Estimate(some))/t.calibration.Ratio()))-some) + max(0, t.req.Pending)
}

// calibrated says how the provider's count follows from the window's; nil while nothing was reported.
func (t *turn) calibrated() *outcome.Calibration {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.calibration
	if c.Samples() == 0 {
		return nil
	}
	return &outcome.Calibration{Ratio: c.Ratio(), Overhead: c.Overhead(), Samples: c.Samples()}
}
