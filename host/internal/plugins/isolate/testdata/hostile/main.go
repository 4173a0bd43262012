// Hostile tries to harm what is outside of its sandbox: a file, a process, a socket. Its argument is a JSON object of
// targets. It looks at no error: the test looks at what became of the targets. At the end it prints what it still has.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// targets are what it is given to try on.
type targets struct {
	File   string // another file of the user
	Victim int    // a process of the user
	Socket string // a socket that another program listens on
	Cling  bool   // to try to outlive the host
}

// report is what it found.
type report struct {
	Sees      bool   // it sees that the file exists
	Reached   bool   // something outside connected, or it connected to something
	Listed    bool   // the socket is in a list that it can read
	Open      []int  // its descriptors above the standard three
	Namespace string // of the network
	Group     int    // its process group
	Shared    []int  // shared memory segments that it made
	Setuid    bool   // it made a file that is setuid
}

func main() {
	var t targets
	if err := json.Unmarshal([]byte(os.Args[1]), &t); err != nil {
		os.Exit(1)
	}
	var r report
	r.Open = open() // before anything is opened here
	_, err := os.Stat(t.File)
	r.Sees = err == nil
	attributes(t.File)
	if t.Victim > 0 { // 0 would be itself
		limits(t.Victim)
	}
	r.Reached, r.Listed = sockets(t.Socket)
	r.Shared = shared()
	r.Setuid = setuid()
	r.Namespace, _ = os.Readlink("/proc/self/ns/net")
	cling(t.Cling)
	r.Group = unix.Getpgrp()
	_ = json.NewEncoder(os.Stdout).Encode(r)
	if t.Cling {
		time.Sleep(time.Hour)
	}
}

func open() (fds []int) {
	for fd := 3; fd < 1024; fd++ {
		var stat unix.Stat_t
		// What the runtime of Go opens for itself, such as an epoll, has no type.
		if unix.Fstat(fd, &stat) == nil && stat.Mode&unix.S_IFMT != 0 {
			fds = append(fds, fd)
		}
	}
	return fds
}

// attributes changes what is not the content of a file, by every call there is.
func attributes(path string) {
	p, _ := unix.BytePtrFromString(path)
	at := uintptr(unsafe.Pointer(p))
	here := ^uintptr(99) // AT_FDCWD
	_ = unix.Chmod(path, 0o777)
	_ = unix.Fchmodat(unix.AT_FDCWD, path, 0o777, 0)
	_, _, _ = unix.Syscall6(unix.SYS_FCHMODAT2, here, at, 0o777, 0, 0, 0)
	_ = unix.Lchown(path, 4711, 4711)
	_ = unix.Fchownat(unix.AT_FDCWD, path, 4711, 4711, 0)
	_ = unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0)
	_ = unix.Utimes(path, []unix.Timeval{{Sec: 1}, {Sec: 1}})
	_ = unix.Setxattr(path, "user.said", []byte("text"), 0)
	_ = unix.Lsetxattr(path, "user.said", []byte("text"), 0)
	// Descriptors that it may open of anything count as well.
	if fd, err := unix.Open(path, unix.O_PATH, 0); err == nil {
		self := fmt.Sprintf("/proc/self/fd/%d", fd)
		_, _ = unix.Chmod(self, 0o777), unix.Setxattr(self, "user.said", []byte("text"), 0)
	}
	_ = unix.Fchmod(0, 0o777)
	_ = os.Truncate(path, 0)
	for _, access := range []int{unix.O_RDONLY, unix.O_RDWR, unix.O_ACCMODE} { // the last is for neither
		_, _ = unix.Open(path, access|unix.O_TRUNC, 0)
	}
	_ = os.Remove(path)
}

// limits does to a process what needs no signal.
func limits(pid int) {
	zero := unix.Rlimit{}
	for _, resource := range []int{unix.RLIMIT_CPU, unix.RLIMIT_FSIZE, unix.RLIMIT_NOFILE} {
		_ = unix.Prlimit(pid, resource, &zero, nil)
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, pid, 19)
	var one unix.CPUSet
	one.Set(0)
	_ = unix.SchedSetaffinity(pid, &one)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, 1, uintptr(pid), 3<<13)
	_ = unix.Kill(pid, unix.SIGKILL)
	_, _, _ = unix.Syscall(unix.SYS_TKILL, uintptr(pid), uintptr(unix.SIGKILL), 0)
	if fd, err := unix.PidfdOpen(pid, 0); err == nil {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
	_, _, _ = unix.Syscall6(unix.SYS_FCNTL, 0, unix.F_SETOWN, uintptr(pid), 0, 0, 0)
}

// sockets connects to another program's socket, and lets others connect to an abstract one. "@hostile" is the name
// that the test dials.
func sockets(path string) (reached, listed bool) {
	_ = os.Symlink(path, "link")
	for _, address := range []string{path, "link", "@" + path} {
		if conn, err := net.Dial("unix", address); err == nil {
			_, _ = conn.Write([]byte("every word"))
			reached = true
		}
	}
	text, _ := os.ReadFile("/proc/self/net/unix")
	listed = strings.Contains(string(text), path)
	if pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0); err == nil { // datagrams need no connection
		reached = reached || unix.Sendto(pair[0], []byte("every word"), 0, &unix.SockaddrUnix{Name: path}) == nil
	}
	if l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@hostile", Net: "unix"}); err == nil {
		_ = l.SetDeadline(time.Now().Add(300 * time.Millisecond))
		if conn, err := l.Accept(); err == nil {
			_ = conn.Close()
			reached = true
		}
	}
	return reached, listed
}

// shared makes what stays when its process has ended.
func shared() (ids []int) {
	if id, err := unix.SysvShmGet(0, 4096, 0o666|unix.IPC_CREAT); err == nil {
		ids = append(ids, id)
	}
	if id, _, errno := unix.Syscall(unix.SYS_MSGGET, 0, 0o666|unix.IPC_CREAT, 0); errno == 0 {
		ids = append(ids, int(id))
	}
	name, _ := unix.BytePtrFromString("hostile")
	at := uintptr(unsafe.Pointer(name))
	if id, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, at, unix.O_CREAT|unix.O_RDWR, 0o666, 0, 0, 0); errno == 0 {
		ids = append(ids, int(id))
	}
	if id, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, 1, 0, 0); errno == 0 {
		ids = append(ids, int(id))
	}
	return ids
}

// setuid makes a file that runs with the rights of its owner, which needs no chmod.
func setuid() bool {
	fd, err := unix.Open("setuid", unix.O_CREAT|unix.O_WRONLY, unix.S_ISUID|0o755)
	if err != nil {
		return false
	}
	var stat unix.Stat_t
	return unix.Fstat(fd, &stat) == nil && stat.Mode&unix.S_ISUID != 0
}

// cling gets rid of what ends it with the host. An exec in a second thread clears the signal of the parent's death,
// whatever is forbidden.
func cling(again bool) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0)
	_ = unix.Setpgid(0, os.Getppid())
	_, _ = unix.Setsid()
	if !again || os.Getenv("AGAIN") != "" {
		return
	}
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		_ = syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), "AGAIN=1"))
		close(done)
	}()
	<-done
}
