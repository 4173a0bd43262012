//go:build unix

package rundir

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile opens a file and locks it for as long as it is open. It fails at once if another process holds the lock, or
// if the file is a symbolic link.
func lockFile(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
