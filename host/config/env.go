package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/nearest"
)

// loadEnv reads the THRESH_ variables. Unknown ones are errors: a misspelt one would be ignored silently.
func loadEnv(env []string, pl places, p *problems) *layer {
	l, x := newLayer(LayerEnvironment), registry()
	// Of two with one name the last wins, as in the shell.
	values := map[string]string{}
	// names keeps the order of the environment for errors.
	var names []string
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || exempt(name) {
			continue
		}
		if _, known := values[name]; !known {
			names = append(names, name)
		}
		values[name] = value
	}
	for _, name := range names {
		at := Origin{Layer: l.name, Source: name}
		key, known := x.env[name]
		switch {
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
