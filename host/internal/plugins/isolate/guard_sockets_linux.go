package isolate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Without namespaces, the file system does not keep a program from sockets: connecting needs no right that Landlock
// knows. So bind and connect are left to the guard. The program could exchange the address between the guard's reading
// and the kernel's, so its own call never runs: the guard makes another socket, binds or connects that, and puts it in
// the place of the program's.

// unixAddress is the longest address of a Unix socket with its family, in bytes.
const unixAddress = 2 + 108

// socket answers a bind or connect. Only sockets in the program's run directory can be reached. The result is the errno
// for the program, 0 for success.
func (g *Guard) socket(fd int, n *notification) unix.Errno {
	name, flags, err := g.asked(fd, n)
	if err != nil {
		return unix.EACCES
	}
	// Nonblocking: a listener that does not accept must not hold up the guard, which serves all of the program's
	// threads.
	ours, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return unix.EMFILE
	}
	defer unix.Close(ours)
	if n.data.number == unix.SYS_BIND {
		// By its path, which the program may ask for later. Landlock keeps it from renaming the directory, and bind
		// follows no link in the place of the name.
		err = unix.Bind(ours, &unix.SockaddrUnix{Name: path.Join(g.dir, name)})
	} else {
		err = connectTo(ours, path.Join(g.dir, name))
	}
	if err == nil {
		err = unix.SetNonblock(ours, flags&unix.O_NONBLOCK != 0)
	}
	if err == nil {
		add := addition{
			id: n.id, flags: unix.SECCOMP_ADDFD_FLAG_SETFD, ours: uint32(ours), theirs: uint32(n.data.args[0]),
			theirFlags: uint32(flags & unix.O_CLOEXEC),
		}
		err = ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(&add))
	}
	if err == nil {
		return 0
	}
	if errno := unix.Errno(0); errors.As(err, &errno) {
		return errno
	}
	return unix.EACCES
}

// connectTo follows no link at the end of the path. The path is opened once, and what is open is checked and used, so
// the program cannot exchange it in between.
func connectTo(socket int, name string) error {
	there, err := unix.Open(name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(there)
	var stat unix.Stat_t
	if err := unix.Fstat(there, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return unix.ECONNREFUSED
	}
	return unix.Connect(socket, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d", there)})
}

// asked returns the name in the run directory that a call is about, and the flags of its descriptor.
func (g *Guard) asked(fd int, n *notification) (name string, flags int, err error) {
	address := make([]byte, min(n.data.args[2], unixAddress))
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", n.pid))
	if err != nil {
		return "", 0, err
	}
	defer mem.Close()
	if _, err := mem.ReadAt(address, int64(n.data.args[1])); err != nil {
		return "", 0, err
	}
	info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", n.pid, int32(n.data.args[0])))
	if err != nil {
		return "", 0, err
	}
	// After reading: only then is it certain that the process id was still the program's.
	if err := valid(fd, n.id); err != nil {
		return "", 0, err
	}
	for line := range strings.Lines(string(info)) {
		if text, ok := strings.CutPrefix(line, "flags:"); ok {
			value, err := strconv.ParseInt(strings.TrimSpace(text), 8, 32)
			if err != nil {
				return "", 0, err
			}
			flags = int(value)
		}
	}
	name, ok := g.inRunDir(address)
	if !ok {
		return "", 0, unix.EACCES
	}
	return name, flags, nil
}

// inRunDir returns the file name in the address of a Unix socket in the run directory. Abstract addresses begin with a
// zero byte.
func (g *Guard) inRunDir(address []byte) (name string, ok bool) {
	if len(address) < 3 || *(*uint16)(unsafe.Pointer(&address[0])) != unix.AF_UNIX || address[2] == 0 {
		return "", false
	}
	text, _, _ := bytes.Cut(address[2:], []byte{0})
	dir, name := path.Split(string(text))
	return name, (dir == "" || path.Clean(dir) == g.dir) && name != "" && name != "." && name != ".."
}
