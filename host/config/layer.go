package config

import "maps"

// setting is a checked value and where it was set.
type setting struct {
	value  any
	origin Origin
}

// layer is what one place sets, by full key (including profiles.<name>.…).
type layer struct {
	name   Layer
	values map[string]setting
	// profiles are the profiles that are mentioned, also those that set nothing.
	profiles map[string]Origin
}

// newLayer returns an empty layer.
func newLayer(name Layer) *layer {
	return &layer{name: name, values: map[string]setting{}, profiles: map[string]Origin{}}
}

// clone returns a copy; values are shared, as they never change.
func (l *layer) clone() *layer {
	return &layer{name: l.name, values: maps.Clone(l.values), profiles: maps.Clone(l.profiles)}
}

// declare notes that a profile exists.
func (l *layer) declare(profile string, at Origin) {
	if _, known := l.profiles[profile]; profile != "" && !known {
		l.profiles[profile] = at
	}
}
