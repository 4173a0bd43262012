package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/env/v2"

	"github.com/thresh-dev/thresh/internal/lazyregexp"
	"github.com/thresh-dev/thresh/internal/nearest"
)

// loadEnv reads the THRESH_ variables. Those that are no settings are stray: others put them there, too, and one that is
// misspelt must be told of without stopping anything.
func loadEnv(environ []string, pl places, p *problems) (*layer, []error) {
	l, x := newLayer(LayerEnvironment), registry()
	// Of two with one name the last wins, as in the shell.
	values, _ := env.Provider("", env.Opt{Prefix: envPrefix, EnvironFunc: func() []string { return environ }}).Read()
	var service []string
	stray := &problems{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := Origin{Layer: l.name, Source: name}
		key, known := x.env[name]
		switch {
		case exempt(name):
		case !known && ofService(name, fmt.Sprint(values[name])):
			service = append(service, name)
		// Searching the nearest name for each of thousands of variables would take seconds.
		case !known && stray.full():
			stray.more++
		case !known:
			guess := nearest.One(name, slices.Sorted(maps.Keys(x.env)))
			stray.add(name, &Error{Origin: at, Problem: "unknown setting in the environment", Nearest: guess})
		case values[name] != "":
			l.override(operator, Override{Key: key, Value: values[name], Source: name}, pl, p)
		}
	}
	all := stray.list
	if stray.more > 0 {
		all = append(all, fmt.Errorf("and %d more variables that are no settings", stray.more))
	}
	if len(service) > 0 {
		all = append(all, fmt.Errorf("%s: of a Kubernetes Service, no settings", shorten(strings.Join(service, ", "))))
	}
	return l, all
}

// ofService reports whether a variable is one that Kubernetes puts into each pod beside a Service, by its name and its
// value (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
func ofService(name, value string) bool {
	return serviceVariable().MatchString(name) || strings.HasSuffix(name, "_PORT") && strings.Contains(value, "://")
}

var serviceVariable = lazyregexp.New(
	`_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$|_PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$`)

// exempt reports whether a variable is one that thresh itself sets: for its plugins, and for an agent that it wraps.
func exempt(name string) bool {
	return strings.HasPrefix(name, "THRESH_STRATEGY_") || strings.HasPrefix(name, "THRESH_MCP_") ||
		name == "THRESH_LIFELINE_FD"
}
