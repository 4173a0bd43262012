package window

import (
	"cmp"
	"context"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/tokens"
)

// ReportUsage takes the prompt tokens, cached ones included, that the provider reported for the request made from the
// last Prepare. The next threshold check uses it instead of the host's own count, until the history is rewritten. What
// reports teach about the provider's count (its overhead, and its tokens per token of the host's) is kept for the
// session and for later ones of its owner in the host with the same model.
//
// For a request that is not quite the prepared one, counted is what the host counts of it, in tokens; 0 for the prepared
// one. After an error the report is lost, but later ones teach the same.
func (s *Session) ReportUsage(ctx context.Context, promptTokens, counted int) error {
	return s.Change(ctx, "report usage", func() error {
		s.mu.Lock()
		sent, w, model := cmp.Or(counted, s.sent), s.pipeline, s.config.Settings().Model.Name
		s.mu.Unlock()
		s.host.calibrations.learn(calibrated{s.key.Owner, model}, w.ReportUsage(promptTokens, sent))
		return nil
	})
}

// calibrations are what a host's sessions learned about how providers count; nil is nothing, and learns nothing.
type calibrations struct {
	mu    sync.Mutex
	known map[calibrated]tokens.Calibration
}

// calibrated is what a calibration is of. A client may report anything, but only for its owner's sessions.
type calibrated struct{ owner, model string }

// maxCalibrations bounds the memory that clients can fill with names of models.
const maxCalibrations = 1000

func (c *calibrations) learn(of calibrated, now tokens.Calibration) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= maxCalibrations {
		c.known = map[calibrated]tokens.Calibration{}
	}
	c.known[of] = now
}

// of returns what is known about a model: nothing for "", because sessions without a model's name may well use
// different models.
func (c *calibrations) of(of calibrated) tokens.Calibration {
	if c == nil || of.model == "" {
		return tokens.Calibration{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[of].Fresh()
}
