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
	by, err := s.host.setter(context.Background(), s.key.Owner)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := overrides(s.config, by, map[string]any{key: value})
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
	delete(s.refused, key)
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
	by   string
	set  string
}

// configOf returns a session's configuration. Those that set the same share one: working it out takes half a
// millisecond, and 250 kB.
func (h *Host) configOf(by config.Setter, settings map[string]any) (*config.Config, error) {
	c := h.Config()
	if len(settings) == 0 {
		return c, nil
	}
	// With the types of the values, in the order of the keys. Which token it is makes no difference.
	key := configKey{c, fmt.Sprintf("%s %q", by.Layer, by.Profiles), fmt.Sprintf("%#v", settings)}
	return h.configs.of(key, func() (*config.Config, error) {
		own, err := overrides(c, by, settings)
		if err == nil {
			for _, w := range own.Warnings() {
				if !slices.Contains(c.Warnings(), w) {
					h.log.Warn(w)
				}
			}
		}
		return own, err
	})
}

// overrides sets settings for a session, all at once: some make sense only together. They are in the order of their
// keys, so that the same settings always give the same error.
func overrides(c *config.Config, by config.Setter, settings map[string]any) (*config.Config, error) {
	var all []config.Override
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		all = append(all, config.Override{Key: key, Value: settings[key], Source: "session"})
	}
	if len(all) == 0 {
		return c, nil
	}
	return c.WithBy(by, all...)
}

// setter returns who sets the settings of an owner's sessions. Whoever opens the session: what someone else has stored
// in it does not become the local user's.
func (h *Host) setter(ctx context.Context, owner string) (config.Setter, error) {
	if owner == "" {
		return config.Setter{Layer: config.LayerSession}, nil
	}
	by := config.Setter{Layer: config.LayerToken, Token: owner}
	if h.granted == nil {
		return by, nil
	}
	var err error
	by.Profiles, err = h.granted(ctx, owner)
	return by, err
}

// inForce works out the configuration of a session from its own settings. Those that its owner may not set, or not any
// more, are not in force: refused has the reasons. They are kept, as a profile may be granted again.
func (h *Host) inForce(by config.Setter, own map[string]json.RawMessage) (
	c *config.Config, refused map[string]string, err error) {
	values := map[string]any{}
	for key, raw := range own {
		// As a value of JSON, which the configuration checks like one that an agent sets.
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			return nil, nil, err
		}
		if err := h.Config().MaySet(by, key, value); err != nil {
			if refused == nil {
				refused = map[string]string{}
			}
			refused[key] = "a setting of this session is not in force: " + err.Error()
			continue
		}
		values[key] = value
	}
	c, err = h.configOf(by, values)
	return c, refused, err
}

// judgeAgain works out the session's configuration again if its owner may choose other profiles than before. If they
// cannot be asked for, what is known holds.
func (s *Session) judgeAgain(ctx context.Context) error {
	if s.key.Owner == "" {
		return nil
	}
	by, err := s.host.setter(ctx, s.key.Owner)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || slices.Equal(by.Profiles, s.by.Profiles) {
		return nil
	}
	c, refused, err := s.host.inForce(by, s.overrides)
	if err != nil {
		return s.storeError(err)
	}
	taxonomy, err := s.host.taxonomyOf(c.Settings())
	if err != nil {
		return err
	}
	s.by, s.config, s.taxonomy, s.refused = by, c, taxonomy, refused
	s.pipeline.Reset()
	return nil
}

// notInForce returns a warning for each of the session's settings that is not in force.
func (s *Session) notInForce() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Values(s.refused))
}
