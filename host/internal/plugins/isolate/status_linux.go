package isolate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// NewStatus returns both ends of the socket over which a launcher reports; see [Spec]. The host closes the launcher's
// end when it has started it.
func NewStatus() (host, launcher *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	err = unix.SetNonblock(fds[0], true) // so that the host's end has deadlines
	return os.NewFile(uintptr(fds[0]), "launcher"), os.NewFile(uintptr(fds[1]), "host"), err
}

// maxStatus is how much a launcher may report, in bytes.
const maxStatus = 64 << 10

// Await reads from the host's end of the socket until the launcher has become the program, which closes the other end.
// It returns a [*Failure] if the launcher reports one, and an [ErrLauncher] if limit passes or the report is
// unreadable. guard is for [NewGuard]; nil if the program's filter of system calls asks nobody.
func Await(status *os.File, limit time.Duration) (guard *os.File, err error) {
	defer func() {
		if err != nil && guard != nil {
			_ = guard.Close()
			guard = nil
		}
	}()
	if err := status.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return nil, err
	}
	conn, err := status.SyscallConn()
	if err != nil {
		return nil, err
	}
	var text []byte
	for len(text) < maxStatus {
		part, rights := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
		var n, nr int
		var bad error
		if err := conn.Read(func(fd uintptr) bool {
			n, nr, _, _, bad = unix.Recvmsg(int(fd), part, rights, unix.MSG_CMSG_CLOEXEC)
			return !errors.Is(bad, unix.EAGAIN) && !errors.Is(bad, unix.EINTR)
		}); err != nil || bad != nil {
			return guard, fmt.Errorf("%w did not answer: %w", ErrLauncher, errors.Join(err, bad))
		}
		if n == 0 {
			break
		}
		if fd := received(rights[:nr]); fd >= 0 && guard == nil {
			// It can be polled, and then needs no thread to wait for it.
			_ = unix.SetNonblock(fd, true)
			guard, part, n = os.NewFile(uintptr(fd), "guard"), part[1:], n-1 // the byte that it came with
		}
		text = append(text, part[:n]...)
	}
	if len(text) == 0 {
		return guard, nil
	}
	f := new(Failure)
	if err := json.Unmarshal(text, f); err != nil {
		return guard, fmt.Errorf("%w said %q", ErrLauncher, text)
	}
	return guard, f
}

// received returns the descriptor in a control message; -1 if there is none.
func received(rights []byte) int {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) == 0 {
		return -1
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return -1
	}
	return fds[0]
}

// handOver sends a launcher's descriptor to the host.
func handOver(status, fd int) error {
	defer unix.Close(fd)
	return unix.Sendmsg(status, []byte{0}, unix.UnixRights(fd), nil, unix.MSG_NOSIGNAL)
}
