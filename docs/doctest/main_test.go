// Package doctest tests the documentation: it runs the commands of the pages and compares their output, holds
// their Go programs to packages, loads settings, follows links, and holds docs/configuration.md to the registry of settings.
//
//	go test ./docs/doctest    # compare
//	make docs                 # write what has changed into the pages
//
// The guide for authors and the example in TypeScript take minutes; they are tested in docs/guidetest.
package doctest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/binaries"
)

// root is the directory of the checkout.
const root = "../.."

var update = flag.Bool("update", false, "write what is printed into the pages, where it differs")

// bin holds thresh, as 'make build' leaves it.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "doctest")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		bin = filepath.Join(dir, "bin")
		if err := binaries.Program(filepath.Join(bin, "thresh"), "host/cmd/thresh"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}
