package host_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/binaries"
)

// TestMain builds the plugin of the examples.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "host")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		if err := binaries.Strategies(dir, "high-density"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		pluginDir = dir
		return m.Run()
	}())
}
