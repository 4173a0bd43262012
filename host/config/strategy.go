package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/nearest"
)

// Strategy returns a strategy's own settings, checked against its declaration and with its defaults filled in; a
// setting without either is absent. Declared keys are relative to strategies.<name>. The error joins an [*Error] with
// its place for everything that is wrong.
func (c *Config) Strategy(name string, declared []Spec) (map[string]any, error) {
	values, p := map[string]any{}, &problems{}
	specs := map[string]Spec{}
	for _, s := range declared {
		specs[s.Key] = s
		// The host refuses a plugin whose defaults are not valid.
		if s.Default != nil {
			values[s.Key] = s.Default
		}
	}
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
		// Not strict: a flag has only text, and whether "7" is a number is known only here.
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

func unknownOwn(at Origin, strategy, full, key string, known []string) *Error {
	e := &Error{Origin: at, Key: full, Problem: "is not a setting of " + strategy, Nearest: nearest.One(key, known)}
	if len(known) == 0 {
		e.Problem += ", which has none"
	} else {
		e.Allowed = "one of: " + strings.Join(known, ", ")
	}
	return e
}
