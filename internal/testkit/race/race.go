// Package race says at a test what the race detector has to do with it. Packages in which something runs concurrently,
// those that start a goroutine or import sync, are tested under it by 'make race', and all others without it. The
// Makefile reads the calls of this package from the sources, so that no test is named there.
package race

import "testing"

// Skip leaves a test out under the race detector, which has nothing to see in it: it does one thing after another, many
// times or with much memory, or it is about the limits of another process. 'make test FULL=1' runs it without.
func Skip(t testing.TB) {
	if Enabled {
		t.Skip("SKIPPED under the race detector: nothing in it runs concurrently")
	}
}

// Watch marks a test of host/cmd/thresh that 'make race' runs, too. The others there start programs, one after another.
func Watch(testing.TB) {}
