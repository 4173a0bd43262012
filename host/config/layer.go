package config

import (
	"maps"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
)

// setting is a checked value and where it was set. It is what koanf stacks: as koanf replaces a value as a whole, the
// origin of what holds comes along, and is not worked out a second time.
//
// koanf copies by reflection what it is given and what it gives. Values never change, so sharing them is safe; without
// the tags each byte of a JSON text would be copied one by one, and unexported fields would be lost.
type setting struct {
	Value  any    `copy:"shallow"`
	Origin Origin `copy:"shallow"`
}

// layer is what one place sets.
type layer struct {
	name Layer
	// values holds a [setting] by full key, including profiles.<name>.…; null is not among them.
	values map[string]any
	// profiles are the profiles that are mentioned, also those that set nothing, and where each is mentioned first.
	profiles map[string]Origin
}

// newLayer returns an empty layer.
func newLayer(name Layer) *layer {
	return &layer{name: name, values: map[string]any{}, profiles: map[string]Origin{}}
}

// clone returns a copy; values are shared, as they never change.
func (l *layer) clone() *layer {
	return &layer{name: l.name, values: maps.Clone(l.values), profiles: maps.Clone(l.profiles)}
}

// declare notes that a profile exists; "" is a key outside of profiles.
func (l *layer) declare(profile string, at Origin) {
	if _, known := l.profiles[profile]; profile != "" && !known {
		l.profiles[profile] = at
	}
}

// stack merges layers, weakest first.
func stack(layers ...*layer) (*koanf.Koanf, error) {
	k := koanf.New(".")
	for _, l := range layers {
		if len(l.values) == 0 {
			continue // koanf indexes all that it holds at each load.
		}
		if err := k.Load(confmap.Provider(l.values, "."), nil); err != nil {
			return nil, err
		}
	}
	return k, nil
}
