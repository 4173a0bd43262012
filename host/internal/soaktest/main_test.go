package soaktest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
)

// strategies are the plugins that ship.
var strategies = binaries.Shipped

// pluginDir is where their files are, which are killed by their paths.
var pluginDir string

func TestMain(m *testing.M) {
	window.ReexecMain() // the plugins are isolated, as they are in production
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "soak")
		if err == nil {
			defer os.RemoveAll(dir)
			pluginDir, err = dir, binaries.Strategies(dir)
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
