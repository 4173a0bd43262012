package plugins

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// executable returns a path that leads to the open file and not to what may stand under its name by now, and files that the
// child must inherit for it, from descriptor first on. Call done after the start.
//
// A script's interpreter opens the path itself, later, so that the descriptor must still be there; for a program it is
// closed as the program begins.
func (b *binary) executable(dir string, first int) (path string, inherit []*os.File, done func(), err error) {
	if _, err := os.Stat("/proc/self/fd/0"); errors.Is(err, os.ErrNotExist) {
		return b.privateCopy(dir) // a system without /proc
	}
	if b.script {
		return fmt.Sprintf("/proc/self/fd/%d", first), []*os.File{b.file}, func() {}, nil
	}
	// Far above the descriptors that the child's own are shuffled through before it begins.
	fd, err := unix.FcntlInt(b.file.Fd(), unix.F_DUPFD_CLOEXEC, int(b.file.Fd())+64)
	if err != nil {
		return "", nil, nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d", fd), nil, func() { _ = unix.Close(fd) }, nil
}
