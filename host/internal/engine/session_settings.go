package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/contract"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// taxonomy is the tool taxonomy in force, as plugins get it, and the settings that it was made from.
type taxonomy struct {
	presets []string
	extra   string
	json    []byte
}

// Set overrides one setting for this session from the next Prepare on. The value is of the setting's type, or its text
// form ("0.5"). The encoding is fixed once something was added: entries are counted when they come in. With another model of
// the same encoding, what the reports of the one before taught is forgotten.
func (s *Session) Set(key string, value any) error {
	s.adding.Lock()
	defer s.adding.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := override(s.config, key, value)
	if err != nil {
		return err
	}
	set := c.Settings()
	if set.Transcript.Dir != s.config.Settings().Transcript.Dir {
		return fmt.Errorf("set %s: %w: a transcript begins with its session; set it for the host or where the session is opened", key, ErrFixed)
	}
	counter, err := tokens.For(set.Model.Name, set.Model.Encoding)
	if err != nil {
		return err
	}
	if counter.Encoding() != s.counter.Encoding() && s.history.Snapshot().Added > 0 {
		return fmt.Errorf("set %s: %w any more: the session's entries are counted with %s already, this asks for %s; begin a new session", key, ErrFixed, s.counter.Encoding(), counter.Encoding())
	}
	if err := s.taxonomy.resolve(set); err != nil {
		return err
	}
	if _, err := priceList(s.host.prices, set); err != nil {
		return err
	}
	model := s.config.Settings().Model.Name
	s.config = c
	if counter != s.counter && s.history.Snapshot().Added == 0 {
		s.counter = counter
		s.pipeline = prepare.New(s.id, s.history, counting{counter})
		s.pipeline.StartFrom(s.host.calibrations.of(set.Model.Name))
	} else if set.Model.Name != model {
		s.pipeline.StartFrom(s.host.calibrations.of(set.Model.Name))
	}
	s.pipeline.Reset()
	return nil
}

// Config is the configuration in force for this session.
func (s *Session) Config() *config.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config
}

// resolve makes the taxonomy that the settings ask for, unless it is the one at hand.
func (t *taxonomy) resolve(set config.Settings) error {
	d := set.Compression.Density
	if t.json != nil && slices.Equal(t.presets, d.ToolPresets) && t.extra == string(d.Tools) {
		return nil
	}
	var extra []tools.Rule
	if len(d.Tools) > 0 {
		if err := json.Unmarshal(d.Tools, &extra); err != nil {
			return fmt.Errorf("compression.density.tools: %w: %w", ErrBadSetting, err)
		}
	}
	made, err := tools.ForPresets(d.ToolPresets, extra)
	if err != nil {
		return fmt.Errorf("compression.density.tools, compression.density.toolPresets: %w: %w", ErrBadSetting, err)
	}
	*t = taxonomy{presets: d.ToolPresets, extra: string(d.Tools), json: made.JSON()}
	return nil
}

// request resolves the settings and the strategy for one turn.
func (s *Session) request(ctx context.Context, pending int) (*prepare.Pipeline, prepare.Request, error) {
	if s.done.Err() != nil {
		return nil, prepare.Request{}, s.closed("prepare")
	}
	s.mu.Lock()
	c, taxonomy, w, active := s.config, s.taxonomy.json, s.pipeline, s.todos
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
	var model *prepare.LLM
	if strategy.Info().RequiresLLM {
		if model, err = s.host.model(c); err != nil {
			return nil, prepare.Request{}, err
		}
	}
	prices, err := priceList(s.host.prices, set)
	if err != nil {
		return nil, prepare.Request{}, err
	}
	d := set.Compression.Density
	return w, prepare.Request{SettingsVersion: version, Strategy: strategy, Pending: pending, Flush: s.keep, Settings: prepare.Settings{
		CallSettings: contract.CallSettings{WorkspaceRoot: set.Workspace.Root, Config: own},
		OptimizeParams: contract.OptimizeParams{Density: contract.DensityConfig{
			ReadWritePruning: d.ReadWritePruning, FileDedupe: d.FileDedupe, RecencyPruning: d.RecencyPruning,
			RecencyRetention: retention(d.RecencyRetention), PartialWrites: contract.PartialWrites(d.PartialWrites),
		}},
		CompressSettings: contract.CompressSettings{
			ContextLimit: set.Model.ContextLimit, CompletionBudget: set.Model.CompletionBudget,
			PreserveThreshold: set.Compression.PreserveThreshold, TopPreserveThreshold: set.Compression.TopPreserveThreshold,
			Todos: active, TranscriptPath: s.journal.Path(),
			UserMessageBudget: set.Compression.UserMessageBudget, Verification: set.Compression.Verification,
		},
		Threshold: set.Compression.Threshold, Tools: taxonomy,
		LLM: model, Prompt: prompt(set, strategy.Name(), model),
		Cooldown: set.Compression.LLM.Cooldown,
		Cadence:  cadence(d.Cadence, prices), OptimizeThreshold: d.OptimizeThreshold, MinSavings: d.MinSavings, Prices: prices,
		Ladder: set.Compression.HardLimit == "ladder",
	}}, nil
}

// cadence is the setting or, without one, what the price list makes of it.
func cadence(setting string, prices *pricing.List) outcome.Cadence {
	switch {
	case setting != "":
		return outcome.Cadence(setting)
	case prices != nil:
		return outcome.CadencePriced
	default:
		return outcome.CadenceEveryTurn
	}
}

// PriceList is the price list in force: the one that model.priceList names, or that of model.name; nil if there is none.
func (h *Host) PriceList(c *config.Config) (*pricing.List, error) {
	return priceList(h.prices, c.Settings())
}

func priceList(prices func() (*pricing.Catalog, error), set config.Settings) (*pricing.List, error) {
	name := set.Model.PriceList
	if name == "none" || name == "auto" && set.Model.Name == "" {
		return nil, nil
	}
	catalog, err := prices()
	if err != nil {
		return nil, err
	}
	if name == "auto" {
		return catalog.ForModel(set.Model.Name), nil
	}
	l, err := catalog.Named(name)
	if err != nil {
		return nil, fmt.Errorf("model.priceList: %w", err)
	}
	return l, nil
}

// retention is a setting that may be any number as a count of results. Below 1 the strategy counts it as 1 itself.
func retention(v float64) int { return int(min(max(math.Floor(v), 0), math.MaxInt32)) }

// override sets one setting for a session. Those that concern the whole host cannot be set here: they would do nothing.
func override(c *config.Config, key string, value any) (*config.Config, error) {
	if slices.ContainsFunc(config.Specs(), func(s config.Spec) bool { return s.Key == key && s.PerHost }) {
		return nil, fmt.Errorf("set %s: %w for one session: it concerns the whole host; set it where that is configured", key, ErrFixed)
	}
	return c.With(key, value, "session")
}

// overrides applies settings in the order of their keys, so that an error is the same each time.
func overrides(c *config.Config, settings map[string]any) (*config.Config, error) {
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		var err error
		if c, err = override(c, key, settings[key]); err != nil {
			return nil, err
		}
	}
	return c, nil
}
