package adk_test

import (
	"google.golang.org/adk/v2/runner"

	"github.com/thresh-dev/thresh/adapters/adk"
	"github.com/thresh-dev/thresh/host"
)

// All agents of the runner stay under their model's limit. The host is opened once, in a program whose main begins with
// host.ReexecMain.
func Example() {
	var newRunner = func(h *host.Host, config runner.Config) (*runner.Runner, error) {
		thresh, err := adk.Plugin(h)
		if err != nil {
			return nil, err
		}
		config.PluginConfig.Plugins = append(config.PluginConfig.Plugins, thresh)
		return runner.New(config)
	}
	_ = newRunner
}
