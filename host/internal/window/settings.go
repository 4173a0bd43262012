package window

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
// The encoding is fixed once something was added, because entries are counted when they are added. A change of model
// within an encoding forgets what reported usage taught about the previous model.
func (s *Session) Set(ctx context.Context, key string, value any) error {
	raw, err := overrideValue(value)
	if err != nil {
		return fmt.Errorf("set %s: %w: %w", key, ErrBadSetting, err)
	}
	return s.Change(ctx, "set", func() error { return s.set(ctx, key, value, raw) })
}

func (s *Session) set(ctx context.Context, key string, value any, raw json.RawMessage) error {
	by, err := s.host.setter(ctx, s.key.Owner)
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
	// Only if it changed: the search reads directories, and other settings must not fail because of a plugin.
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
	if empty {
		s.useCounter(counter)
	}
	if empty || set.Model.Name != old.Model.Name {
		s.pipeline.StartFrom(s.host.calibrations.of(calibrated{s.key.Owner, set.Model.Name}))
	}
	// A cooldown and remembered no-ops were decisions under the old settings.
	s.pipeline.Reset()
	return nil
}

// useCounter makes the session count with another counter. Callers hold s.mu.
func (s *Session) useCounter(counter *tokens.Counter) {
	s.counter = counter
	s.systemTokens = counter.System(s.system)
	s.pipeline = prepare.New(s.name(), s.history, counting{counter})
}

func (s *Session) Config() *config.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config
}

type configKey struct {
	host *config.Config
	by   string
	set  string
}

// configOf returns a session's configuration. Sessions that set the same share one: making it takes half a millisecond
// and 250 kB.
func (h *Host) configOf(by config.Setter, settings map[string]any) (*config.Config, error) {
	c := h.Config()
	if len(settings) == 0 {
		return c, nil
	}
	// With the types of the values. Which token it is makes no difference.
	key := configKey{c, fmt.Sprintf("%s %q", by.Layer, by.Profiles), fmt.Sprintf("%#v", settings)}
	return h.configs.of(key, func() (*config.Config, error) {
		return overrides(c, by, settings)
	})
}

// overrides sets settings for a session all at once, because some make sense only together, in the order of their keys,
// so the same settings always give the same error.
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

// setter returns who sets the settings of an owner's sessions, whoever opens them: what another has stored in a session
// does not become the local user's.
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

// inForce works out a session's configuration from its own settings. Settings that its owner may not set, or not any
// more, are not in force: refused has the reasons. They are kept, because a profile may be granted again.
func (h *Host) inForce(by config.Setter, own map[string]json.RawMessage) (
	c *config.Config, refused map[string]string, err error) {
	values := map[string]any{}
	for key, raw := range own {
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

// refreshProfiles works out the session's configuration again if its owner's profiles have changed. If they cannot be
// looked up, the last known ones apply.
func (s *Session) refreshProfiles(ctx context.Context) error {
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
		return s.wrong(err)
	}
	taxonomy, err := s.host.taxonomyOf(c.Settings())
	if err != nil {
		return err
	}
	s.by, s.config, s.taxonomy, s.refused = by, c, taxonomy, refused
	s.pipeline.Reset()
	return nil
}

func (s *Session) notInForce() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Values(s.refused))
}
