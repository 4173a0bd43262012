//go:build unix

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// File opens a file for reading and writing, with further flags of [os.OpenFile], and locks it. The file has mode 0600
// if it is new, and is no symbolic link. The error is [ErrHeld] if it is locked.
func File(path string, flag int) (*os.File, error) { return open(path, flag|os.O_RDWR|unix.O_NOFOLLOW) }

// Directory locks a directory. The error is [ErrHeld] if it is locked.
func Directory(dir string) (*os.File, error) { return open(dir, os.O_RDONLY) }

func open(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrHeld
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
