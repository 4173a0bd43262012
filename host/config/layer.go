package config

import (
	"maps"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
)

// setting is a checked value and where it was set. koanf replaces a value as a whole, so the origin goes along.
//
// koanf copies by reflection what it is given and what it returns. Values never change, so sharing is safe; without the
// tags the bytes of a JSON text would be copied one by one, and unexported fields lost.
type setting struct {
	Value  any    `copy:"shallow"`
	Origin Origin `copy:"shallow"`
}

// layer is what one place sets.
type layer struct {
	name Layer
	// values has a [setting] by full key, including profiles.<name>.…; null is left out.
	values map[string]any
	// profiles has each profile mentioned, even one that sets nothing, and its first mention.
	profiles map[string]Origin
}

func newLayer(name Layer) *layer {
	return &layer{name: name, values: map[string]any{}, profiles: map[string]Origin{}}
}

func (l *layer) clone() *layer {
	return &layer{name: l.name, values: maps.Clone(l.values), profiles: maps.Clone(l.profiles)}
}

// declare notes that a profile exists; "" for a key outside of profiles.
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
			continue // koanf indexes all that it holds at each load
		}
		if err := k.Load(confmap.Provider(l.values, "."), nil); err != nil {
			return nil, err
		}
	}
	return k, nil
}
