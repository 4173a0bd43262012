package window

import (
	"context"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/sdk"
)

// strategy returns the strategy in force, with its settings and the model that it may call. What is wrong with any of
// them makes it a [prepare.Missing]: the turn decides what follows, as for every other failure of a strategy.
func (s *Session) strategy(ctx context.Context, c *config.Config) (prepare.Strategy, sdk.Config, *prepare.LLM) {
	name := c.Settings().Compression.Strategy
	strategy, err := s.host.plugins.Strategy(ctx, name)
	if err != nil {
		return prepare.NewMissing(name, s.host.plugins.Info(name), err), nil, nil
	}
	own, err := strategy.Config(c.Strategy)
	// A missing key must not stop strategies that call no model.
	var model *prepare.LLM
	if err == nil && strategy.Info().RequiresLLM {
		model, err = s.host.model(c, s.key.Owner)
	}
	if err != nil {
		return prepare.NewMissing(name, strategy.Info(), err), nil, nil
	}
	return strategy, own, model
}
