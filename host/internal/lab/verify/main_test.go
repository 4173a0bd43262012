package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/thresh-dev/thresh/host/internal/builtin"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
)

// bin holds what the tests run besides what is built in: bad, and the programs of the SDK's documentation.
var bin string

func TestMain(m *testing.M) {
	builtin.Main()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "v") // short: sockets are made below it
		if err == nil {
			defer os.RemoveAll(dir)
			bin, err = dir, build(dir)
		}
		if err == nil {
			err = os.Mkdir(filepath.Join(dir, "tmp"), 0o755)
		}
		if err == nil {
			err = os.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if code := m.Run(); code != 0 {
			return code
		}
		if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) > 0 {
			fmt.Fprintln(os.Stderr, "left in the temporary directory:", left, err)
			return 1
		}
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left:", err)
			return 1
		}
		return 0
	}())
}

func build(dir string) error {
	const programs = "sdk/serve/testdata/programs/"
	return binaries.Install(dir, map[string]string{"bad": "host/internal/lab/verify/testdata/bad",
		"thresh-strategy-keep-last":       programs + "keep-last",
		"thresh-strategy-forget-thoughts": programs + "forget-thoughts"})
}

// program is a strategy in the SDK's documentation.
func program(name string) string { return filepath.Join(bin, "thresh-strategy-"+name) }

// bad returns a binary with one fault. It is a hard link: hosts refuse symbolic links that lead out of a plugin
// directory.
func bad(t *testing.T, fault string) string {
	t.Helper()
	dir := filepath.Join(bin, "bad-"+fault)
	path := filepath.Join(dir, plugins.FilePrefix+fault)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(bin, "bad"), path); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	return path
}

// hasty are bounds with which a run does not take long.
func hasty() bounds {
	b := defaultBounds()
	b.Large, b.Slow, b.Long, b.Many = 1<<20, 0, 1000, 70_000
	b.memory = 256 << 20
	return b
}
