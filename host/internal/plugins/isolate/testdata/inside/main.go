// Inside tries, from inside of what isolation leaves to a program, what its arguments say, and prints how each
// attempt ended, as a JSON object. An argument is the name of an attempt, with what it is tried on after a colon.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	ended := map[string]string{}
	for _, arg := range os.Args[1:] {
		name, on, _ := strings.Cut(arg, ":")
		text, err := attempt(name, on)
		if err != nil {
			text = reason(err)
		}
		ended[name] = text
	}
	if err := json.NewEncoder(os.Stdout).Encode(ended); err != nil {
		os.Exit(1)
	}
}

func attempt(name, on string) (string, error) {
	const done = "done"
	switch name {
	case "read", "read-granted", "read-system", "read-self":
		_, err := os.ReadFile(on)
		return done, err
	case "list":
		_, err := os.ReadDir(on)
		return done, err
	case "write", "write-granted", "write-run-dir":
		return done, os.WriteFile(on, []byte("x"), 0o600)
	case "tcp", "udp", "unix":
		conn, err := net.Dial(name, on)
		if err == nil {
			_ = conn.Close()
		}
		return done, err
	case "own":
		return done, talkToItself()
	case "signal":
		pid, err := strconv.Atoi(on)
		return done, errors.Join(err, syscall.Kill(pid, 0))
	case "start":
		return done, exec.Command(on).Run()
	case "fork":
		return done, raw(unix.SYS_CLONE, uintptr(unix.SIGCHLD))
	case "clone3":
		return done, raw(unix.SYS_CLONE3, 0)
	case "namespace":
		return done, raw(unix.SYS_CLONE, uintptr(unix.CLONE_NEWUSER|unix.CLONE_NEWNS|unix.SIGCHLD))
	case "ptrace", "fsopen", "fsmount", "move-mount", "open-tree", "mount-setattr":
		return done, raw(map[string]uintptr{
			"ptrace": unix.SYS_PTRACE, "fsopen": unix.SYS_FSOPEN, "fsmount": unix.SYS_FSMOUNT, "move-mount": unix.SYS_MOVE_MOUNT,
			"open-tree": unix.SYS_OPEN_TREE, "mount-setattr": unix.SYS_MOUNT_SETATTR,
		}[name], 0)
	case "thread":
		ok := make(chan bool)
		for range 20 { // each its own
			go func() { runtime.LockOSThread(); ok <- true }()
		}
		for range 20 {
			<-ok
		}
		return done, nil
	case "no-new-privs":
		n, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
		return fmt.Sprint(n), err
	case "capabilities":
		return status("CapEff")
	case "cores", "files", "size", "memory":
		which := map[string]int{"cores": unix.RLIMIT_CORE, "files": unix.RLIMIT_NOFILE, "size": unix.RLIMIT_FSIZE, "memory": unix.RLIMIT_DATA}
		var l syscall.Rlimit
		err := syscall.Getrlimit(which[name], &l)
		return fmt.Sprint(l.Max), err
	}
	return "", errors.New("unknown attempt")
}

// talkToItself has a socket in the current directory, by its absolute path, and connects to it by its relative one.
func talkToItself() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	l, err := net.Listen("unix", dir+"/own")
	if err != nil {
		return err
	}
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = conn.Write([]byte("!"))
			_ = conn.Close()
		}
	}()
	conn, err := net.Dial("unix", "own")
	if err != nil {
		return err
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, err = conn.Read(make([]byte, 1))
	return err
}

// raw makes a system call. Where a process comes of it, that ends at once.
func raw(call, arg uintptr) error {
	pid, _, errno := unix.RawSyscall6(call, arg, 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return nil
}

func status(key string) (string, error) {
	text, err := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.TrimSpace(value), err
		}
	}
	return "", errors.Join(err, fs.ErrNotExist)
}

// reason is what the system says, without who asked for what.
func reason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}
