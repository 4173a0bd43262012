//go:build unix

package binaries

import (
	"errors"
	"os"
	"syscall"
)

// lock waits until no other test process builds. The lock is advisory and belongs to the open file, so that it also
// ends with a process that is killed. EINTR is a signal in between, such as that of Go's own scheduler, and no reason
// to give up.
func lock(file string) (unlock func() error, err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil // closing releases it
}
