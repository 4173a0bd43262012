package prepare

import (
	"math"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/outcome"
)

// ReportUsage learns from the provider's count of the prompt that was sent after the last Prepare. counted is the
// host's count of the same prompt, pending tokens included. It returns the new calibration, from which other sessions
// can start ([Pipeline.StartFrom]).
func (p *Pipeline) ReportUsage(promptTokens, counted int) tokens.Calibration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known.Calibration.Observe(counted, promptTokens)
	return p.known.Calibration
}

// StartFrom replaces the calibration, for a session that begins or changes its model. It also forgets what was sent:
// the prompt cache of another model holds none of it.
func (p *Pipeline) StartFrom(c tokens.Calibration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known.Calibration, p.known.Sent = c, Sent{}
}

// projected is what the provider is expected to count for a request with this view.
func (t *turn) projected(view history.View) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known.Calibration.Estimate(view.Tokens + max(0, t.req.Pending))
}

// hostTokens converts the provider's tokens into the host's, rounded up: limits are configured in the former, entries
// are counted in the latter.
func (t *turn) hostTokens(provider int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int(math.Ceil(float64(provider) / t.known.Calibration.Ratio()))
}

// extraTokens is what the provider is expected to count in addition to the history, in tokens as the host counts:
// system prompt, tool schemas and pending tokens.
func (t *turn) extraTokens() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	const plenty = 1 << 20 // an estimate this large is not subject to the calibration's lower bounds
	estimate := float64(t.known.Calibration.Estimate(plenty)) / t.known.Calibration.Ratio()
	return max(0, int(math.Round(estimate))-plenty) + max(0, t.req.Pending)
}

// reportedCalibration is nil until usage was reported.
func (t *turn) reportedCalibration() *outcome.Calibration {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.known.Calibration
	if c.Samples() == 0 {
		return nil
	}
	return &outcome.Calibration{Ratio: c.Ratio(), Overhead: c.Overhead(), Samples: c.Samples()}
}
