//go:build !linux

package verify

import "time"

// On other systems neither is measured: the check on memory is skipped, and the one on cancellation looks only at
// requests to the host.
func peakMemory(int) (int64, error) { return 0, errNotMeasured }

func cpuTime(int) (time.Duration, error) { return 0, errNotMeasured }

func runnable(int) bool { return false }
