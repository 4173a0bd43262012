package isolate

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Guard makes the sockets of a program where there are no namespaces: its filter of system calls leaves bind and
// connect to the host (seccomp user notification). See guard_sockets_linux.go. It is safe for concurrent use.
type Guard struct {
	file  *os.File
	dir   string
	flood func(why string) // ends the program
}

// The layouts must match struct seccomp_notif, seccomp_notif_resp, seccomp_notif_addfd and seccomp_data of the kernel,
// field by field.
type (
	notification struct {
		id         uint64
		pid, flags uint32
		data       callData
	}
	response struct {
		id    uint64
		val   int64
		errno int32
		flags uint32
	}
	addition struct { // of a descriptor to the program's
		id                              uint64
		flags, ours, theirs, theirFlags uint32
	}
	callData struct {
		number, arch uint32
		at           uint64
		args         [6]uint64
	}
)

// maxCalls is how many calls a guard answers in a second. More are an attempt to keep the host busy.
const maxCalls = 10_000

// NewGuard answers until Close, or the program's end. file is from [Launcher.Become]; dir is the program's run
// directory. flood is called at most once, if the program makes so many calls that it must be ended.
func NewGuard(file *os.File, dir string, flood func(why string)) *Guard {
	g := &Guard{file: file, dir: dir, flood: flood}
	go g.serve()
	return g
}

// Close ends the guard. Binding and connecting then fail with ENOSYS.
func (g *Guard) Close() { _ = g.file.Close() }

// serve is the only goroutine that reads the file.
func (g *Guard) serve() {
	conn, err := g.file.SyscallConn()
	if err != nil {
		return
	}
	second, count := time.Now(), 0
	for ended := false; !ended; {
		if err := conn.Read(func(fd uintptr) bool {
			// Without waiting: false sends it back to the runtime, which waits for the descriptor without blocking a
			// thread of the host.
			polls := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			if n, err := unix.Poll(polls, 0); err != nil || n == 0 {
				return false
			}
			if polls[0].Revents&unix.POLLIN == 0 {
				ended = true // POLLHUP
				return true
			}
			g.answer(int(fd))
			return true
		}); err != nil {
			return
		}
		if now := time.Now(); now.Sub(second) > time.Second {
			second, count = now, 0
		}
		// Not a sliding second: the bound need not be exact.
		if count++; count > maxCalls {
			g.flood(fmt.Sprintf("it bound or connected more than %d sockets in a second", maxCalls))
			return
		}
	}
}

// answer answers one call with an error or 0; the program's own call never runs.
func (g *Guard) answer(fd int) {
	var n notification
	if ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)) != nil {
		return // its thread was interrupted and will ask again
	}
	r := response{id: n.id, errno: -int32(g.socket(fd, &n))}
	_ = ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r)) // it fails if the thread is gone
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

var errStale = errors.New("the thread is gone")

// valid reports whether the thread still waits: then what was read of a process before belongs to this thread's
// process.
func valid(fd int, id uint64) error {
	if ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) != nil {
		return errStale
	}
	return nil
}
