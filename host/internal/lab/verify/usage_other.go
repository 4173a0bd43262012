//go:build !linux

package verify

import "time"

func peakMemory(int) (int64, error) { return 0, errNotMeasured }

func cpuTime(int) (time.Duration, error) { return 0, errNotMeasured }
