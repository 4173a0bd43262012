// Package repo finds files of the repository and of the test material next to it, from whichever package a test runs
// in.
//
// Tests use it instead of paths such as ../../../examples, which break when a package moves.
package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// find looks for the directory with go.mod above the working directory, which for a test is its package's.
var find = sync.OnceValues(func() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod above %s", start)
		}
	}
})

// Root returns the directory of the module that the test belongs to.
func Root() (string, error) { return find() }

// Path returns the path of a file or directory of the repository, given from its root.
func Path(tb testing.TB, elem ...string) string {
	tb.Helper()
	root, err := Root()
	if err != nil {
		tb.Fatal(err)
	}
	return filepath.Join(root, filepath.Join(elem...))
}

// Samples returns the sample sessions in examples/sessions. There is at least one.
func Samples(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob(Path(tb, "examples", "sessions", "*.json*"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no sample sessions: %v", err)
	}
	return files
}

// Unread reports whether a recorded session beside the repository is of SWE-agent, whose trajectories are not read.
func Unread(path string) bool { return filepath.Base(filepath.Dir(path)) == "swe-agent" }

// Shared returns a path below the directory "shared" next to the repository, which holds recorded sessions and cases
// with expected results. Where it is absent the test is skipped, and says so.
func Shared(tb testing.TB, elem ...string) string {
	tb.Helper()
	path := filepath.Join(filepath.Dir(Path(tb)), "shared", filepath.Join(elem...))
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("SKIPPED: the test material is not next to the repository: %v", err)
	}
	return path
}
