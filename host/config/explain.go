package config

import (
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/internal/nearest"
)

// Explanation is everything about one setting. Durations are text, such as "10s". Its JSON form is stable: scripts read
// it from 'thresh config explain -o json'.
type Explanation struct {
	Key  string `json:"key"`
	Type Type   `json:"type"`
	// Value is nil if nothing was set and there is no default.
	Value  any    `json:"value"`
	Origin Origin `json:"origin"`
	// Default is nil if there is none; DefaultText says what applies then. Both may be set.
	Default     any    `json:"default"`
	DefaultText string `json:"defaultText,omitempty"`
	Unit        string `json:"unit,omitempty"`
	// Allowed says in words what is allowed.
	Allowed string `json:"allowed"`
	Meaning string `json:"meaning"`
	Tuning  bool   `json:"tuning,omitempty"` // [Spec.Tuning]
	// Env is the environment variable; "" if there is none.
	Env string `json:"env,omitempty"`
	// NotBy lists who cannot set it: [LayerProjectFile], [LayerSession], [LayerToken].
	NotBy []Layer `json:"notBy,omitempty"`
}

// Explain explains settings or groups of settings; without keys, all of them and the strategies' own settings that are
// set. For profiles.<name>.<key> the value is the profile's, in force or not. Each unknown key is an [*Error].
func (c *Config) Explain(keys ...string) ([]Explanation, error) {
	if len(keys) == 0 {
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

// under returns the settings of a group: the registry's in its order, then what else is set, sorted.
func (c *Config) under(group string) []string {
	keys := registry().under(group)
	for _, key := range c.merged.Keys() {
		if strings.HasPrefix(key, group+".") && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// explain explains one setting, without values that look secret.
func (c *Config) explain(key string, s Spec) Explanation {
	v := c.setting(key)
	e := Explanation{
		Key: key, Type: s.Type, Value: readable(v.Value), Origin: c.Origin(key),
		Default: readable(s.defaultOn(c.places)), DefaultText: s.DefaultText,
		Unit: s.Unit, Allowed: s.Want(), Meaning: s.Meaning, Tuning: s.Tuning,
	}
	for _, l := range []Layer{LayerProjectFile, LayerSession, LayerToken} {
		if !s.MaySet(l) {
			e.NotBy = append(e.NotBy, l)
		}
	}
	// Keys that contain a user's name have no variable.
	if _, plain := registry().specs[key]; plain {
		e.Env = envName(key)
	}
	switch {
	// A strategy may take a key as a setting, although it should name a file or a variable.
	case v.Value != nil && s.Type == Scalar && looksSecret(key):
		e.Value = "(not shown)"
	case s.Key == keyStore:
		e.Value = withoutPassword(e.Value)
	}
	return e
}

func readable(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return v.String()
	case []string:
		return slices.Clone(v)
	}
	return v
}
