package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/tokens"
)

// Set overrides one setting for this session, from the next Prepare on. The value has the setting's type, or is its
// text form ("0.5"); nil removes the override. The error is a *config.Error, or wraps [ErrFixed] or [ErrBadSetting].
//
// The encoding is fixed once something was added, because entries are counted when they are added. With another model
// of the same encoding, what reported usage taught about the previous model is forgotten.
func (s *Session) Set(key string, value any) error {
	raw, err := overrideValue(value)
	if err != nil {
		return fmt.Errorf("set %s: %w: %w", key, ErrBadSetting, err)
	}
	// Nothing is added while the encoding may change.
	return s.change(context.Background(), "set", func() error { return s.set(key, value, raw) })
}

// set is Set without the store. Callers hold s.adding.
func (s *Session) set(key string, value any, raw json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := overrides(s.config, map[string]any{key: value})
	if err != nil {
		return err
	}
	set, old := c.Settings(), s.config.Settings()
	if set.Transcript.Dir != old.Transcript.Dir {
		return fmt.Errorf("set %s: %w: a transcript begins with its session; set it for the host or when "+
			"opening the session", key, ErrFixed)
	}
	// Looked for only if it changed: the search reads directories, and other settings must not fail because of a
	// plugin.
	if set.Compression.Strategy != old.Compression.Strategy {
		if err := s.host.checkStrategy(c); err != nil {
			return fmt.Errorf("set %s: %w", key, err)
		}
	}
	counter, err := tokens.For(set.Model.Name, set.Model.Encoding)
	if err != nil {
		return err
	}
	empty := s.history.Snapshot().Added == 0
	if counter.Encoding() != s.counter.Encoding() && !empty {
		return fmt.Errorf("set %s: %w any more: the session's entries are already counted with %s, this asks for %s; "+
			"open a new session",
			key, ErrFixed, s.counter.Encoding(), counter.Encoding())
	}
	if _, err := s.host.prices.choose(set); err != nil {
		return err
	}
	taxonomy, err := s.host.taxonomyOf(set)
	if err != nil {
		return err
	}
	s.config, s.taxonomy = c, taxonomy
	if value == nil {
		delete(s.overrides, key)
	} else {
		s.overrides[key] = raw
	}
	// Nothing is counted yet but the system prompt, which is counted again.
	if empty {
		s.useCounter(counter)
	}
	if empty || set.Model.Name != old.Model.Name {
		s.pipeline.StartFrom(s.host.calibrations.of(set.Model.Name))
	}
	// A cooldown and remembered no-ops were decisions under the old settings.
	s.pipeline.Reset()
	return nil
}

// useCounter makes the session count in another encoding. Callers hold s.mu.
func (s *Session) useCounter(counter *tokens.Counter) {
	s.counter = counter
	s.systemTokens = countSystem(counter, s.system)
	s.pipeline = prepare.New(s.name(), s.history, counting{counter})
}

// Config returns the configuration in force for this session.
func (s *Session) Config() *config.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config
}

// configKey is what the configuration of a session is made of.
type configKey struct {
	host *config.Config
	set  string
}

// configOf returns a session's configuration. Those that set the same share one: working it out takes half a
// millisecond, and 250 kB.
func (h *Host) configOf(settings map[string]any) (*config.Config, error) {
	c := h.Config()
	if len(settings) == 0 {
		return c, nil
	}
	key := configKey{c, fmt.Sprintf("%#v", settings)} // with the types of the values, in the order of the keys
	return h.configs.of(key, func() (*config.Config, error) { return overrides(c, settings) })
}

// overrides sets settings for a session, all at once: some make sense only together. They are in the order of their
// keys, so that the same settings always give the same error. Those that concern the whole host are refused: for a
// session, they would have no effect.
func overrides(c *config.Config, settings map[string]any) (*config.Config, error) {
	var all []config.Override
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if slices.ContainsFunc(config.Specs(), func(s config.Spec) bool { return s.Key == key && s.PerHost }) {
			return nil, fmt.Errorf("set %s: %w for one session: it concerns the whole host; set it where that is "+
				"configured", key, ErrFixed)
		}
		all = append(all, config.Override{Key: key, Value: settings[key], Source: "session"})
	}
	if len(all) == 0 {
		return c, nil
	}
	return c.WithAll(all...)
}
