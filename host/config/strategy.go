package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/nearest"
)

// Strategy returns a strategy's own settings, checked against what it declares and with its defaults filled in; where
// there is no default, an absent setting stays absent. Declared keys are relative to strategies.<name>. The error
// joins an [*Error] for everything that is wrong, with the file and line of each.
func (c *Config) Strategy(name string, declared []Spec) (map[string]any, error) {
	values, p := map[string]any{}, &problems{}
	// By key, relative to the strategy.
	specs := map[string]Spec{}
	for _, s := range declared {
		specs[s.Key] = s
		// Defaults are valid: the host refuses a plugin whose own are not.
		if s.Default != nil {
			values[s.Key] = s.Default
		}
	}
	// Sorted for the errors, which list them.
	known := slices.Sorted(maps.Keys(specs))
	own := c.merged.Cut(groupStrategies + "." + name)
	for _, key := range own.Keys() {
		v, full := own.Get(key).(setting), groupStrategies+"."+name+"."+key
		s, ok := specs[key]
		if !ok {
			p.add(key, unknownOwn(v.Origin, name, full, key, known))
			continue
		}
		if bad := notDeclaredForTokens(s, full, v.Origin); bad != nil {
			p.add(key, bad)
			continue
		}
		// Not strict: a flag had only text, and whether "7" is meant as a number is known only here.
		typed, bad := s.check(v.Value, false)
		if bad != nil {
			p.add(key, bad.in(s, full, v.Origin))
			continue
		}
		values[key] = typed
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return values, nil
}

// unknownOwn returns the error for a setting that a strategy does not declare, with the nearest one that it does.
func unknownOwn(at Origin, strategy, full, key string, known []string) *Error {
	e := &Error{Origin: at, Key: full, Problem: "is not a setting of " + strategy, Nearest: nearest.One(key, known)}
	if len(known) == 0 {
		e.Problem += ", which has none"
	} else {
		e.Allowed = "one of: " + strings.Join(known, ", ")
	}
	return e
}
