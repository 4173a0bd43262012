package window

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/prepare"
)

// Check returns problems of a configuration that reading it does not show: a strategy that no plugin has, even in a
// profile not in force, settings that a strategy does not have, a missing price list, a model without its key. It
// starts no plugin and calls no model. The error has a line for each problem, with where the setting was made.
func (h *Host) Check(c *config.Config) error {
	set := c.Settings()
	errs := []error{h.prices.check(c)}
	strategies := []string{"compression.strategy"}
	for _, name := range c.Profiles() {
		strategies = append(strategies, "profiles."+name+".compression.strategy")
	}
	for _, key := range strategies {
		e, err := c.Explain(key)
		if err != nil {
			return err
		}
		name, chosen := e[0].Value.(string)
		// The default may be missing: a session that only keeps a history needs no strategy.
		if !chosen || e[0].Origin.Layer == config.LayerDefault {
			continue
		}
		if err := h.plugins.Check(name); err != nil {
			errs = append(errs, fmt.Errorf("%s (%s): %w", key, e[0].Origin, err))
		}
	}
	errs = append(errs, h.CheckOwn(c, slices.Sorted(maps.Keys(set.Strategies))...))
	model, err := h.Model(c)
	if err == nil {
		// The client works on without the file, but a restart would not.
		err = model.CheckKeyFile()
	}
	// A profile may lack a model, unless it was chosen for its model.
	if err != nil && (set.Compression.Profile != "" || !errors.Is(err, prepare.ErrNoLLM)) {
		chose := "compression.profile"
		if set.Compression.Profile == "" {
			chose = "profile"
		}
		errs = append(errs, At(c, chose, err))
	}
	return errors.Join(errs...)
}

// At adds where a setting was made to an error about its value, unless it has its default.
func At(c *config.Config, key string, err error) error {
	at := c.Origin(key)
	if err == nil || at.Layer == config.LayerDefault {
		return err
	}
	return fmt.Errorf("%s: %w", at, err)
}
