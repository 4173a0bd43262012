package soaktest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/thresh-dev/thresh/host/internal/engine"

	"github.com/thresh-dev/thresh/internal/testkit/binaries"
)

// strategies are the plugins that ship, by name, with the folder of each.
var strategies = map[string]string{
	"high-density": "highdensity", "top-down-truncation": "topdown", "middle-out": "middleout", "one-shot": "oneshot",
}

// pluginDir holds them, built.
var pluginDir string

func TestMain(m *testing.M) {
	engine.ReexecMain() // the plugins are isolated, as they are in production
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "soak")
		if err == nil {
			defer os.RemoveAll(dir)
			pluginDir, err = dir, build(dir)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if code := m.Run(); code != 0 {
			return code
		}
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left:", err)
			return 1
		}
		return 0
	}())
}

func build(dir string) error {
	packages := map[string]string{}
	for name, folder := range strategies {
		packages[name] = "plugins/" + folder
	}
	return binaries.Plugins(dir, packages)
}
