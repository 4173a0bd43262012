package plugins

import (
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/client"
)

// settings are those of a configuration that sets the given keys and nothing else.
func settings(t testing.TB, set map[string]any) client.Settings {
	t.Helper()
	o := config.Options{ConfigFile: "/dev/null", Env: []string{}}
	for key, value := range set {
		o.Overrides = append(o.Overrides, config.Override{Key: key, Value: value, Source: "test"})
	}
	c, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return c.Strategy
}
