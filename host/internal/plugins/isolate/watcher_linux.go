package isolate

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Watcher is a process that briefly outlives the host and kills what the host has left behind. PR_SET_PDEATHSIG would
// not do: a program that calls exec in another thread than its first is rid of it. A plugin cannot reach the watcher,
// which holds pidfds, so no reused process id can mislead it. It is safe for concurrent use.
type Watcher struct {
	socket *os.File // the only other end of the watcher's socket: it ends with the host
	ended  chan struct{}
	err    error // why it could not be started; valid after ended is closed
}

const watcherSocket = 3

// NewWatcher does not wait for the watcher: what it is told waits in the socket.
func NewWatcher() (*Watcher, error) {
	if !Registered() {
		return nil, errors.New("this program does not call host.ReexecMain, so that it cannot be a watcher")
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "watcher"), os.NewFile(uintptr(fds[1]), "host")
	w := &Watcher{socket: ours, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		var null *os.File
		if null, w.err = os.OpenFile(os.DevNull, os.O_RDWR, 0); w.err != nil {
			_ = theirs.Close()
			return
		}
		defer null.Close()
		var process *os.Process
		process, w.err = os.StartProcess("/proc/self/exe", []string{watcherName}, &os.ProcAttr{
			Dir: "/", Env: []string{}, Files: []*os.File{null, null, null, theirs},
			// What a terminal sends to the host must not reach it.
			Sys: &syscall.SysProcAttr{Setsid: true},
		})
		_ = theirs.Close()
		if w.err == nil {
			_, w.err = process.Wait()
		}
	}()
	return w, nil
}

// Ended is closed when the watcher has ended, or could not be started.
func (w *Watcher) Ended() <-chan struct{} { return w.ended }

// Watch has a process, its process group and its control group (nil: none) killed when the host ends or Close is
// called. The control group is removed then. pidfd remains the caller's.
func (w *Watcher) Watch(pid, pidfd int, group *Group) error {
	conn, err := w.socket.SyscallConn()
	if err != nil {
		return err
	}
	text := strconv.Itoa(pid)
	if group != nil {
		text += " " + group.dir.Name()
	}
	bad := conn.Control(func(fd uintptr) {
		err = unix.Sendmsg(int(fd), []byte(text), unix.UnixRights(pidfd), nil, unix.MSG_NOSIGNAL)
	})
	return errors.Join(bad, err)
}

// Close ends the watcher, which kills every remaining process, and waits for it.
func (w *Watcher) Close() {
	_ = w.socket.Close()
	<-w.ended
}

type watched struct {
	pid, pidfd int
	group      string // the directory of its control group; "" for none
}

// watch is the main function of a watcher.
func watch() {
	closeInherited(watcherSocket + 1)
	var all []watched
	// The host removes the group of a process that has ended, unless it was killed at the same time.
	var groups []string
	for {
		polls := []unix.PollFd{{Fd: watcherSocket, Events: unix.POLLIN}}
		for _, p := range all {
			polls = append(polls, unix.PollFd{Fd: int32(p.pidfd), Events: unix.POLLIN})
		}
		if _, err := unix.Poll(polls, -1); err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			break
		}
		var left []watched
		for i, p := range all {
			if polls[i+1].Revents == 0 { // a pidfd becomes readable when its process ends
				left = append(left, p)
			} else {
				_ = unix.Close(p.pidfd)
			}
		}
		all = left
		if polls[0].Revents == 0 {
			continue
		}
		p, more := receive()
		if !more {
			break
		}
		if p.pidfd > 0 {
			all = append(all, p)
		}
		if p.group != "" {
			groups = append(slices.DeleteFunc(groups, isRemoved), p.group)
		}
	}
	for _, p := range all {
		p.kill()
	}
	for _, g := range groups { // by now most processes have ended
		_ = removeGroup(g)
	}
}

func isRemoved(group string) bool { return unix.Access(group, unix.F_OK) != nil }

// closeInherited closes the descriptors from first on that the host inherited: a pipe would not end with the host. Go's
// runtime sets close-on-exec on all it opens for itself, so no descriptor with that flag was inherited; the runtime
// ends a program whose epoll is gone.
func closeInherited(first int) {
	open, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range open {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd < first {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}

// receive reads one message of the host. more is false at the end of the host.
func receive() (p watched, more bool) {
	text, rights := make([]byte, 32+unix.PathMax), make([]byte, unix.CmsgSpace(4))
	n, nr, _, _, err := unix.Recvmsg(watcherSocket, text, rights, unix.MSG_CMSG_CLOEXEC)
	if errors.Is(err, unix.EINTR) {
		return p, true
	}
	if err != nil || n == 0 {
		return p, false
	}
	pid, group, _ := strings.Cut(string(text[:n]), " ")
	p.group = group
	p.pid, err = strconv.Atoi(pid)
	if fds := received(rights[:nr]); err == nil && len(fds) == 1 {
		p.pidfd = fds[0]
	}
	return p, true
}

// kill ends the group first: as long as the process exists, its id is its own.
func (p watched) kill() {
	polls := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}
	if n, _ := unix.Poll(polls, 0); n == 0 && p.pid > 1 {
		_ = unix.Kill(-p.pid, unix.SIGKILL)
	}
	_ = unix.PidfdSendSignal(p.pidfd, unix.SIGKILL, nil, 0)
}
