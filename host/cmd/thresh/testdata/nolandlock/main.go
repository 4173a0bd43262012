//go:build linux

// Nolandlock runs a program as on a kernel without Landlock: its system calls fail as if they were unknown.
package main

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

func main() {
	runtime.LockOSThread()
	const ret, load, equal = unix.BPF_RET | unix.BPF_K, unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	filter := []unix.SockFilter{
		{Code: load, K: 0}, // the call's number
		{Code: equal, K: unix.SYS_LANDLOCK_CREATE_RULESET, Jf: 1},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	}
	if err == nil {
		err = unix.Exec(os.Args[1], os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "nolandlock:", err)
	os.Exit(99)
}
