// Package settings loads settings for tests that open a host in their own process: the same on every machine.
package settings

import (
	"testing"

	"github.com/thresh-dev/thresh/host/config"
)

// Load is the defaults with the settings of set over them, as --set has them. Neither the environment nor a file of the
// machine is read. plugins is the only directory that is searched for strategies; "" is an empty one, so that a
// session's first Prepare fails.
func Load(tb testing.TB, plugins string, set map[string]any) *config.Config {
	tb.Helper()
	if plugins == "" {
		plugins = tb.TempDir()
	}
	o := config.Options{WorkDir: tb.TempDir(), Env: []string{}, Overrides: []config.Override{
		{Key: "plugins.dirs", Value: []string{plugins}, Source: "test"},
	}}
	for key, value := range set {
		o.Overrides = append(o.Overrides, config.Override{Key: key, Value: value, Source: "test"})
	}
	c, err := config.Load(o)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
