//go:build linux && (amd64 || arm64)

package isolate

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// errnoOf returns the error that a filter without a guard gives.
func errnoOf(call uint32) unix.Errno {
	switch {
	case call == unix.SYS_SOCKET:
		return unix.EACCES
	case call == unix.SYS_CLONE, slices.Contains(native.forks, call), slices.Contains(refusedCalls, call),
		slices.Contains(native.refused, call):
		return unix.EPERM
	}
	return unix.ENOSYS
}

func refusedCall(call uint32) Refused {
	r := Refused{Call: callNames[call]}
	switch {
	case call == unix.SYS_CLONE || slices.Contains(native.forks, call):
		r = Refused{"starting a process", "processes"}
	case call == unix.SYS_SOCKET:
		r = Refused{"a socket of another family than unix", "network"}
	case slices.Contains(processCalls, call):
		r.Grant = "processes"
	}
	if r.Call == "" {
		r.Call = fmt.Sprintf("system call %d", call)
	}
	return r
}

// callNames names the refused calls that programs most likely make.
var callNames = map[uint32]string{
	unix.SYS_BIND: "bind to a socket outside", unix.SYS_CONNECT: "connect to a socket outside",
	unix.SYS_CHDIR: "chdir", unix.SYS_FCHDIR: "fchdir", unix.SYS_CHROOT: "chroot", unix.SYS_FCHMOD: "fchmod",
	unix.SYS_FCHMODAT: "fchmodat", unix.SYS_FCHMODAT2: "fchmodat2", unix.SYS_FCHOWN: "fchown",
	unix.SYS_FCHOWNAT: "fchownat", unix.SYS_TRUNCATE: "truncate", unix.SYS_UTIMENSAT: "utimensat",
	unix.SYS_MKNODAT:       "mknodat",
	unix.SYS_INOTIFY_INIT1: "inotify_init1", unix.SYS_IOPRIO_SET: "ioprio_set", unix.SYS_KILL: "kill",
	unix.SYS_TKILL: "tkill", unix.SYS_SETPGID: "setpgid", unix.SYS_SETSID: "setsid", unix.SYS_SETUID: "setuid",
	unix.SYS_SETGID: "setgid", unix.SYS_SETGROUPS: "setgroups", unix.SYS_CAPSET: "capset",
	unix.SYS_SHMGET: "shmget", unix.SYS_MSGGET: "msgget", unix.SYS_SEMGET: "semget", unix.SYS_MQ_OPEN: "mq_open",
	unix.SYS_MEMFD_CREATE: "memfd_create", unix.SYS_USERFAULTFD: "userfaultfd", unix.SYS_PTRACE: "ptrace",
	unix.SYS_IO_URING_SETUP: "io_uring_setup", unix.SYS_BPF: "bpf", unix.SYS_PERF_EVENT_OPEN: "perf_event_open",
	unix.SYS_MOUNT: "mount", unix.SYS_UMOUNT2: "umount2", unix.SYS_PIVOT_ROOT: "pivot_root",
	unix.SYS_UNSHARE: "unshare", unix.SYS_SETNS: "setns", unix.SYS_KEYCTL: "keyctl", unix.SYS_ADD_KEY: "add_key",
	unix.SYS_PIDFD_OPEN: "pidfd_open", unix.SYS_PIDFD_GETFD: "pidfd_getfd", unix.SYS_SYSLOG: "syslog",
	unix.SYS_PROCESS_VM_READV: "process_vm_readv", unix.SYS_PROCESS_VM_WRITEV: "process_vm_writev",
	unix.SYS_IO_SETUP: "io_setup", unix.SYS_FANOTIFY_INIT: "fanotify_init", unix.SYS_PERSONALITY: "personality",
	unix.SYS_SECCOMP: "seccomp", unix.SYS_LANDLOCK_CREATE_RULESET: "landlock_create_ruleset",
}
