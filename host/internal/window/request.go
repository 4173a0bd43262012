package window

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/sdk"
)

var _ prepare.Strategy = (*plugins.Strategy)(nil)

// request resolves the settings and the strategy for one turn. pending is what the request to the model holds besides
// the history, in tokens.
func (s *Session) request(ctx context.Context, pending int) (*prepare.Pipeline, prepare.Request, error) {
	if s.done.Err() != nil {
		return nil, prepare.Request{}, s.closedError("prepare")
	}
	if err := s.judgeAgain(ctx); err != nil {
		return nil, prepare.Request{}, err
	}
	// One consistent set: a setting that changes during the turn applies from the next one. Starting a plugin takes
	// seconds, so the lock must not be held below.
	s.mu.Lock()
	c, taxonomy, w, active := s.config, s.taxonomy, s.pipeline, s.todos
	version := w.SettingsVersion()
	s.mu.Unlock()
	set := c.Settings()
	strategy, err := s.host.plugins.Strategy(ctx, set.Compression.Strategy)
	if err != nil {
		return nil, prepare.Request{}, err
	}
	own, err := strategy.Config(c.Strategy)
	if err != nil {
		return nil, prepare.Request{}, err
	}
	// A missing key must not stop strategies that call no model.
	var model *prepare.LLM
	if strategy.Info().RequiresLLM {
		if model, err = s.host.model(c, s.key.Owner); err != nil {
			return nil, prepare.Request{}, err
		}
	}
	prices, err := s.host.prices.choose(set)
	if err != nil {
		return nil, prepare.Request{}, err
	}
	rules, err := s.host.rulesOf(set)
	if err != nil {
		return nil, prepare.Request{}, err
	}
	d, compress := set.Compression.Density, set.CompressSettings()
	compress.Todos, compress.TranscriptPath = active, s.TranscriptPath()
	return w, prepare.Request{SettingsVersion: version, Strategy: strategy, Pending: pending,
		Compressing: s.journal.Lease,
		Apply: func(plan *history.Plan, step string) error {
			return s.journal.Rewrite(plan, step, strategy.Name())
		},
		Settings: prepare.Settings{
			CallSettings:     sdk.CallSettings{WorkspaceRoot: set.Workspace.Root, Config: own},
			OptimizeParams:   sdk.OptimizeParams{Density: d.DensityConfig},
			CompressSettings: compress,
			Threshold:        set.Compression.Threshold, Tools: taxonomy,
			Keep: rules, KeepShare: set.Compression.KeepShare,
			LLM: model, Prompt: prompt(set, strategy.Name(), model),
			Cooldown: cooldown,
			Cadence:  cadence(d.Cadence, prices), OptimizeThreshold: d.OptimizeThreshold, MinSavings: d.MinSavings,
			Prices:    prices,
			Ladder:    set.Compression.HardLimit != "error",
			KeepHuman: set.Compression.HardLimit == "make-room-keep-human",
		}}, nil
}
