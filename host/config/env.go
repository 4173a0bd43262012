package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/env/v2"

	"github.com/thresh-dev/thresh/internal/nearest"
)

// loadEnv reads the THRESH_ variables. Unknown ones are errors: a misspelt one would be ignored silently.
func loadEnv(environ []string, pl places, p *problems) *layer {
	l, x := newLayer(LayerEnvironment), registry()
	// Of two with one name the last wins, as in the shell.
	values, _ := env.Provider("", env.Opt{Prefix: envPrefix, EnvironFunc: func() []string { return environ }}).Read()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := Origin{Layer: l.name, Source: name}
		key, known := x.env[name]
		switch {
		case exempt(name):
		// Searching the nearest name for each of thousands of variables would take seconds.
		case !known && p.full():
			p.more++
		case !known:
			guess := nearest.One(name, slices.Sorted(maps.Keys(x.env)))
			p.add(name, &Error{Origin: at, Problem: "unknown setting in the environment", Nearest: guess})
		case values[name] != "":
			l.override(operator, Override{Key: key, Value: values[name], Source: name}, pl, p)
		}
	}
	return l
}

// exempt reports whether a variable is part of the protocol between host and plugins.
func exempt(name string) bool {
	return strings.HasPrefix(name, "THRESH_STRATEGY_") || name == "THRESH_LIFELINE_FD"
}
