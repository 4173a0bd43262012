package conform

import (
	"runtime"
	"syscall"
	"time"
)

// took returns the processor time of f, as far as it runs on one thread. It does not depend on what else the machine
// does.
func took(f func() error) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const thread = 1 // RUSAGE_THREAD
	var before, after syscall.Rusage
	if err := syscall.Getrusage(thread, &before); err != nil {
		return 0, err
	}
	err := f()
	if err := syscall.Getrusage(thread, &after); err != nil {
		return 0, err
	}
	used := func(r syscall.Rusage) time.Duration { return time.Duration(r.Utime.Nano() + r.Stime.Nano()) }
	return used(after) - used(before), err
}
