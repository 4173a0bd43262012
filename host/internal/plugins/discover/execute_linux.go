package discover

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// running works even after its file was replaced or removed.
func running(string) string { return "/proc/self/exe" }

// Executable returns a path that leads to the open file, even if the file's own path leads elsewhere by now, and the
// files that the child must inherit for it, from descriptor first on. dir is a private directory for a copy, where one
// is needed. Call done after the start.
//
// A script's interpreter opens the path itself, later, so the descriptor must still be open then. For a program it is
// closed when the program begins.
func (b *Binary) Executable(dir string, first int) (path string, inherit []*os.File, done func(), err error) {
	if _, err := os.Stat("/proc/self/fd/0"); errors.Is(err, os.ErrNotExist) {
		return b.privateCopy(dir) // a system without /proc
	}
	if b.Script {
		return fmt.Sprintf("/proc/self/fd/%d", first), []*os.File{b.file}, func() {}, nil
	}
	// The number is far above the descriptors that os/exec moves around before the program begins.
	fd, err := unix.FcntlInt(b.file.Fd(), unix.F_DUPFD_CLOEXEC, int(b.file.Fd())+64)
	if err != nil {
		return "", nil, nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d", fd), nil, func() { _ = unix.Close(fd) }, nil
}
