package config

import (
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/internal/text"
)

// Explanation is everything there is to know about one setting. Durations are text, such as "10s".
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
	// Env is the environment variable; "" if there is none.
	Env string `json:"env,omitempty"`
	// Trusted is set if a project file cannot set it.
	Trusted bool `json:"trusted,omitempty"`
}

// Explain explains the given settings, or groups of settings; none means all, and the strategies' own settings that
// are set. In profiles.<name>.<key> the value is what the profile sets, whether it is in force or not. The error
// joins an [*Error] for each unknown key.
func (c *Config) Explain(keys ...string) ([]Explanation, error) {
	if len(keys) == 0 {
		keys = append(Keys(), groupStrategies)
	}
	p, all := &problems{}, c.allValues()
	var found []Explanation
	for _, key := range keys {
		t := registry().find(key)
		_, defined := c.profiles[t.profile]
		switch {
		case t.problem != "":
			p.add(key, func() *Error { return &Error{Key: key, Problem: t.problem, Nearest: t.nearest} })
		case t.profile != "" && !defined:
			p.add(key, func() *Error {
				return &Error{Key: key, Problem: "there is no such profile", Nearest: text.Nearest(t.profile, c.Profiles())}
			})
		case t.leaf:
			found = append(found, c.explain(key, t.spec, all))
		default:
			for _, k := range under(key, all) {
				found = append(found, c.explain(k, registry().find(k).spec, all))
			}
		}
	}
	return found, p.err()
}

// under returns the settings of a group: those of the registry, then what is set besides.
func under(group string, all map[string]setting) []string {
	keys := registry().under(group)
	var own []string
	for key := range all {
		if strings.HasPrefix(key, group+".") && !slices.Contains(keys, key) {
			own = append(own, key)
		}
	}
	slices.Sort(own)
	return append(keys, own...)
}

// allValues returns the values in force and those in profiles.
func (c *Config) allValues() map[string]setting {
	all := map[string]setting{}
	for _, l := range append(slices.Clone(c.layers), c.session) {
		for key, v := range l.values {
			if strings.HasPrefix(key, groupProfiles+".") {
				all[key] = v
			}
		}
	}
	for key, v := range c.values {
		all[key] = v
	}
	return all
}

// explain explains one setting. Values of strategies' settings whose names look like secrets are hidden.
func (c *Config) explain(key string, s Spec, all map[string]setting) Explanation {
	v, ok := all[key]
	if !ok {
		v.origin.Layer = LayerDefault
	}
	e := Explanation{Key: key, Type: s.Type, Value: readable(v.value), Origin: v.origin,
		Default: readable(s.defaultOn(c.places)), DefaultText: s.DefaultText, Unit: s.Unit, Allowed: s.Want(), Meaning: s.Meaning, Trusted: s.Trusted}
	if key == s.Key && s.Type != Scalar {
		e.Env = envName(key)
	}
	if v.value != nil && s.Type == Scalar && looksSecret(key) {
		e.Value = "(not shown)"
	}
	return e
}

// readable returns a value as it would be written, as a copy.
func readable(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return v.String()
	case []string:
		return slices.Clone(v)
	}
	return v
}
