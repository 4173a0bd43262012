//go:build !race

package race

// Enabled says whether this test runs under the race detector.
const Enabled = false
