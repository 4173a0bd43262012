package config

import (
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/internal/nearest"
)

// Explanation is everything there is to know about one setting. Durations are text, such as "10s". Its JSON form is
// stable: scripts read it from 'thresh config explain -o json'.
type Explanation struct {
	Key  string `json:"key"`
	Type Type   `json:"type"`
	// Value is nil if nothing was set and there is no default.
	Value  any    `json:"value"`
	Origin Origin `json:"origin"`
	// Default is nil if there is none; DefaultText then describes what applies. Both may be set.
	Default     any    `json:"default"`
	DefaultText string `json:"defaultText,omitempty"`
	Unit        string `json:"unit,omitempty"`
	// Allowed says in words what the setting may be.
	Allowed string `json:"allowed"`
	Meaning string `json:"meaning"`
	Tuning  bool   `json:"tuning,omitempty"` // [Spec.Tuning]
	// Env is the environment variable; "" if there is none.
	Env string `json:"env,omitempty"`
	// NotBy are those who cannot set it: [LayerProjectFile], [LayerSession], [LayerToken].
	NotBy []Layer `json:"notBy,omitempty"`
}

// Explain explains the given settings, or groups of settings; none means all, and the strategies' own settings that
// are set. In profiles.<name>.<key> the value is what the profile sets, whether it is in force or not. The error
// joins an [*Error] for each unknown key.
func (c *Config) Explain(keys ...string) ([]Explanation, error) {
	if len(keys) == 0 {
		// Profiles are left out: what they set is not in force, unless it is among the values anyway.
		keys = append(Keys(), groupStrategies)
	}
	p := &problems{}
	var found []Explanation
	for _, key := range keys {
		t := registry().find(key)
		_, defined := c.profiles[t.profile]
		switch {
		case t.problem != "":
			p.add(key, &Error{Key: key, Problem: t.problem, Nearest: t.nearest})
		case t.profile != "" && !defined:
			guess := nearest.One(t.profile, c.Profiles())
			p.add(key, &Error{Key: key, Problem: "there is no such profile", Nearest: guess})
		// A setting that is not set is explained as well, with its default.
		case t.leaf:
			found = append(found, c.explain(key, t.spec))
		default:
			for _, k := range c.under(key) {
				found = append(found, c.explain(k, registry().find(k).spec))
			}
		}
	}
	return found, p.err()
}

// under returns the settings of a group: those of the registry in its order, then what else is set, sorted.
func (c *Config) under(group string) []string {
	keys := registry().under(group)
	for _, key := range c.merged.Keys() {
		if strings.HasPrefix(key, group+".") && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// explain explains one setting. Values of strategies' settings whose names look like secrets are hidden.
func (c *Config) explain(key string, s Spec) Explanation {
	v := c.setting(key)
	// Not set, and without a default: Origin says where a value would come from if there were none.
	if v.Value == nil {
		v.Origin.Layer = LayerDefault
	}
	e := Explanation{
		Key: key, Type: s.Type, Value: readable(v.Value), Origin: v.Origin,
		Default: readable(s.defaultOn(c.places)), DefaultText: s.DefaultText,
		Unit: s.Unit, Allowed: s.Want(), Meaning: s.Meaning, Tuning: s.Tuning,
	}
	for _, l := range []Layer{LayerProjectFile, LayerSession, LayerToken} {
		if !s.MaySet(l) {
			e.NotBy = append(e.NotBy, l)
		}
	}
	// Keys with names of the user's have no variable.
	if _, plain := registry().specs[key]; plain {
		e.Env = envName(key)
	}
	switch {
	// A strategy may have a setting for a key, although it should name a file or a variable.
	case v.Value != nil && s.Type == Scalar && looksSecret(key):
		e.Value = "(not shown)"
	case s.Key == keyStore:
		e.Value = withoutPassword(e.Value)
	}
	return e
}

// readable returns a value as it would be written, as a copy.
func readable(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return v.String()
	case []string:
		// The caller may change what it gets.
		return slices.Clone(v)
	}
	return v
}
