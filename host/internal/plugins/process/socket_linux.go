package process

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// socket returns a path to the socket with that name in the plugin's directory. The path leads to the socket as it is
// now, even if the plugin puts something else in its place, and is valid until the process has ended. A plugin with its
// own file system has its socket there; the host reaches it through the process's root.
func (c *child) socket(name string) (string, error) {
	dir := c.dir
	if isolate.OwnDisk(c.sandbox.Apply) {
		dir = fmt.Sprintf("/proc/%d/root%s", c.cmd.Process.Pid, c.dir)
	}
	// Looking the name up in the open directory follows no link in its place.
	in, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(in)
	fd, err := unix.Openat(in, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	// Kept open until the process is closed: the path below names this descriptor.
	c.listens.Store(os.NewFile(uintptr(fd), name))
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return "", err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return "", errNoSocket
	}
	return fmt.Sprintf("/proc/self/fd/%d", fd), nil
}
