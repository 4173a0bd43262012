package hostile

import (
	"syscall"
	"time"
)

// running returns how long the thread has been running.
func running() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var of syscall.Rusage
	if err := syscall.Getrusage(thread, &of); err != nil {
		panic(err)
	}
	return time.Duration(of.Utime.Nano() + of.Stime.Nano())
}
