package compare_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
)

// dir is removed when the tests are over.
var dir string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if dir, err = os.MkdirTemp("", "compare"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		return m.Run()
	}())
}

// built makes the strategies of the tests when the first test needs them: two that need no model, one that does, a
// bad one, one that plays for recall and the same without its trick.
var built = sync.OnceValue(func() error {
	return errors.Join(binaries.Strategies(dir, "distill", "high-density", "top-down-truncation", "one-shot"),
		binaries.Plugins(dir, map[string]string{"forgetful": "host/internal/lab/compare/testdata/forgetful",
			"bag": "host/internal/lab/compare/testdata/bag", "tail": "host/internal/lab/compare/testdata/bag"}))
})

// open opens a host with changes over the defaults.
func open(tb testing.TB, changes map[string]any) *window.Host {
	tb.Helper()
	if err := built(); err != nil {
		tb.Fatal(err)
	}
	set := map[string]any{"workspace.root": "/w"}
	maps.Copy(set, changes)
	h, err := window.Open(window.Options{Config: settings.Load(tb, dir, set), Logger: hclog.NewNullLogger()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = h.Close() })
	return h
}
