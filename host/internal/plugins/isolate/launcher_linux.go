package isolate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptors of a launcher. Until it is told what to become, the socket also fills the places of the lifeline and the
// binary, so nothing else gets these.
const (
	binaryFD   = LifelineFD + 1
	controlFD  = LifelineFD + 2
	binaryPath = "/proc/self/fd/4"
)

// NewLauncher returns how to start a launcher that can become what spec says, or any other program with the same
// namespaces, in a group (nil: the host's). /proc/self/exe is the running program even if its file was replaced.
func NewLauncher(spec Spec, group *Group) (*Launcher, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	_ = unix.SetNonblock(fds[0], true) // gives the host's end deadlines
	theirs := os.NewFile(uintptr(fds[1]), "host")
	flags := namespacesOf(spec)
	attr := inNamespaces(flags)
	if group != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, int(group.dir.Fd())
	}
	return &Launcher{
		Path: "/proc/self/exe", Args: []string{launcherName}, Attr: attr, Inherit: []*os.File{theirs, theirs, theirs},
		host: os.NewFile(uintptr(fds[0]), "launcher"), theirs: theirs, flags: flags, group: group,
	}, nil
}

func (l *Launcher) Close() {
	_ = l.host.Close()
	_ = l.theirs.Close()
}

// Fits reports whether the launcher can become what spec says: its namespaces cannot be changed any more.
func (l *Launcher) Fits(spec Spec) bool { return namespacesOf(spec) == l.flags }

// Become turns a launcher into a program, and waits for that at most for limit. It returns a [*Failure] if the launcher
// reports one, an [ErrGone] if the launcher ended before it read what to become, and an [ErrLauncher] if it does not
// answer in time, or cannot be understood. guard is for [NewGuard]; nil if the program's filter of system calls does
// not ask the host. Call it once.
func (l *Launcher) Become(spec Spec, handles Handles, limit time.Duration) (guard *os.File, err error) {
	_ = l.theirs.Close()
	if err := l.host.SetDeadline(time.Now().Add(limit)); err != nil {
		return nil, err
	}
	spec.OwnUser = l.flags&unix.CLONE_NEWUSER != 0
	if l.group != nil {
		if err := l.group.limit(spec.MaxMemory); err != nil {
			return nil, fmt.Errorf("limiting a control group: %w", err)
		}
	}
	if err = l.tell(spec, handles); err == nil {
		guard, err = l.await()
	}
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
		err = ErrGone
	}
	return guard, err
}

// tell sends what a launcher becomes. The files travel with the first byte, which has no meaning.
func (l *Launcher) tell(spec Spec, handles Handles) error {
	text, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	var fds []int
	for _, f := range []*os.File{handles.Stdout, handles.Stderr, handles.Lifeline, handles.Binary} {
		if f != nil {
			fds = append(fds, int(f.Fd()))
		}
	}
	conn, err := l.host.SyscallConn()
	if err != nil {
		return err
	}
	bad := conn.Control(func(fd uintptr) {
		err = unix.Sendmsg(int(fd), []byte{0}, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
	})
	if err = errors.Join(bad, err); err == nil {
		_, err = l.host.Write(text)
	}
	// The launcher reads until the end.
	if err == nil {
		bad = conn.Control(func(fd uintptr) { err = unix.Shutdown(int(fd), unix.SHUT_WR) })
	}
	return errors.Join(bad, err)
}

// told waits until the host says what the launcher becomes, and puts the files in their places. The launcher is on its
// main thread and has opened nothing.
func told() (spec Spec, err error) {
	rights := make([]byte, unix.CmsgSpace(4*binaryFD))
	n, nr, _, _, err := unix.Recvmsg(controlFD, make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		return spec, errors.Join(io.ErrUnexpectedEOF, err)
	}
	// In the order of [Handles].
	for i, fd := range received(rights[:nr]) {
		if err := unix.Dup3(fd, i+1, 0); err != nil {
			return spec, err
		}
	}
	unix.CloseOnExec(controlFD)
	text, part := []byte(nil), make([]byte, 4096)
	for {
		n, err := unix.Read(controlFD, part)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n <= 0 {
			break // what is missing then is missing in the JSON
		}
		text = append(text, part[:n]...)
	}
	if err := json.Unmarshal(text, &spec); err != nil {
		return spec, err
	}
	if !spec.KeepBinary {
		unix.CloseOnExec(binaryFD)
	}
	return spec, nil
}

// maxStatus is in bytes.
const maxStatus = 64 << 10

// await reads what a launcher reports, until exec closes its end of the socket.
func (l *Launcher) await() (guard *os.File, err error) {
	defer func() {
		if err != nil && guard != nil {
			_ = guard.Close()
			guard = nil
		}
	}()
	conn, err := l.host.SyscallConn()
	if err != nil {
		return nil, err
	}
	var text []byte
	// An end without any text means success.
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
		if fds := received(rights[:nr]); len(fds) == 1 && guard == nil {
			// A nonblocking descriptor can be polled, without a thread to wait for it.
			_ = unix.SetNonblock(fds[0], true)
			guard, part, n = os.NewFile(uintptr(fds[0]), "guard"), part[1:], n-1 // without the byte that carried it
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

func received(rights []byte) []int {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) == 0 {
		return nil
	}
	fds, _ := unix.ParseUnixRights(&messages[0])
	return fds
}

func handOver(fd int) error {
	defer unix.Close(fd)
	return unix.Sendmsg(controlFD, []byte{0}, unix.UnixRights(fd), nil, unix.MSG_NOSIGNAL)
}
