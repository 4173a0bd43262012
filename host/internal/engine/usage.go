package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/tokens"
)

// ReportUsage takes the number of prompt tokens that the provider reported for the request made from the last
// Prepare, cached ones included. The next threshold check is based on it instead of the host's own count, until the
// history is rewritten. What the reports teach about the provider's count (its overhead, and how many of its tokens
// correspond to one of the host's) is kept, and later sessions of the host with the same model start with it.
func (s *Session) ReportUsage(promptTokens int) {
	err := s.change(context.Background(), "report usage", func() error {
		s.mu.Lock()
		sent, w, model := s.sent, s.pipeline, s.config.Settings().Model.Name
		s.mu.Unlock()
		s.host.calibrations.learn(model, w.ReportUsage(promptTokens, sent))
		return nil
	})
	// The report is lost: later ones teach the same.
	if err != nil && !errors.Is(err, ErrClosed) {
		s.host.log.Warn("usage that was reported could not be stored", "session", s.key.ID, "error", err)
	}
}

// calibrations are what the sessions of a host learned about how providers count, by the model's name.
type calibrations struct {
	mu    sync.Mutex
	known map[string]tokens.Calibration
}

// learn stores what a session knows after a report.
func (c *calibrations) learn(model string, now tokens.Calibration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]tokens.Calibration{}
	}
	c.known[model] = now
}

// of returns what is known about a model. Nothing is known about "": two sessions without a model's name may well use
// different models.
func (c *calibrations) of(model string) tokens.Calibration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if model == "" {
		return tokens.Calibration{}
	}
	return c.known[model].Fresh()
}
