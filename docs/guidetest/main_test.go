// Package guidetest tests what takes minutes in the documentation: it follows the guide for authors from an empty
// directory to a release, builds and verifies what 'thresh plugins new' makes in other languages, and builds and uses the
// strategies of examples/strategies as their authors would. It also checks the types of the client for TypeScript.
//
// It needs bash, node with npm for what is in TypeScript, and for Python the packages grpcio and protobuf of
// /usr/bin/python3. Where one of these, or the registry behind it, cannot be reached, the test skips and says so.
package guidetest

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

// bin holds thresh, as 'make build' leaves it.
var bin string

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("SKIPPED with -short: the guide for authors, and what is in TypeScript")
		os.Exit(0)
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "guidetest")
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
