//go:build linux && (amd64 || arm64)

package isolate

import "golang.org/x/sys/unix"

// The filter is an allow list: a call that is not named in this file does not exist for a plugin, nor does one that a
// later kernel brings. The list comes from tracing plugins in Go, in TypeScript on Node and in Python through whole
// runs of the conformance suite, plus what their C libraries do in other versions.

// allowedCalls need no look at their arguments: they act on the process itself, on its descriptors, or on paths, which
// Landlock and the mount namespace guard.
var allowedCalls = []uint32{
	// The most frequent ones come first; kernels before 5.11 search the list at every call.
	unix.SYS_FUTEX, unix.SYS_READ, unix.SYS_WRITE, unix.SYS_EPOLL_PWAIT, unix.SYS_NANOSLEEP, unix.SYS_MMAP,
	unix.SYS_MADVISE, unix.SYS_CLOCK_GETTIME, unix.SYS_RT_SIGPROCMASK, unix.SYS_SCHED_YIELD,

	// Open files.
	unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_COPY_FILE_RANGE, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_EPOLL_CREATE1,
	unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT2, unix.SYS_EVENTFD2, unix.SYS_FADVISE64, unix.SYS_FALLOCATE,
	unix.SYS_FDATASYNC, unix.SYS_FLOCK, unix.SYS_FSTAT, unix.SYS_FSTATFS, unix.SYS_FSYNC, unix.SYS_FTRUNCATE,
	unix.SYS_GETDENTS64, unix.SYS_LSEEK, unix.SYS_PIPE2, unix.SYS_PPOLL, unix.SYS_PREAD64, unix.SYS_PREADV,
	unix.SYS_PREADV2, unix.SYS_PSELECT6, unix.SYS_PWRITE64, unix.SYS_PWRITEV, unix.SYS_PWRITEV2, unix.SYS_READV,
	unix.SYS_SENDFILE, unix.SYS_SPLICE, unix.SYS_SYNC_FILE_RANGE, unix.SYS_TEE, unix.SYS_WRITEV,

	// Paths. Nothing here changes the owner, mode, times or attributes of a file: Landlock does not guard those. Not
	// openat2, whose mode lies in memory, where a filter does not see it.
	unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_GETCWD, unix.SYS_LINKAT, unix.SYS_MKDIRAT, unix.SYS_NEWFSTATAT,
	unix.SYS_READLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_STATFS,
	unix.SYS_STATX, unix.SYS_SYMLINKAT, unix.SYS_UMASK, unix.SYS_UNLINKAT,

	// Its own memory. Not memfd_create, userfaultfd or System V shared memory, which outlives the process.
	unix.SYS_BRK, unix.SYS_GET_MEMPOLICY, unix.SYS_MEMBARRIER, unix.SYS_MINCORE, unix.SYS_MLOCK, unix.SYS_MLOCK2,
	unix.SYS_MPROTECT, unix.SYS_MREMAP, unix.SYS_MSEAL, unix.SYS_MSYNC, unix.SYS_MUNLOCK, unix.SYS_MUNMAP,
	unix.SYS_PKEY_ALLOC, unix.SYS_PKEY_FREE, unix.SYS_PKEY_MPROTECT,

	// Itself and its threads.
	unix.SYS_CAPGET, unix.SYS_EXECVE, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_FUTEX_WAIT, unix.SYS_FUTEX_WAITV,
	unix.SYS_FUTEX_WAKE, unix.SYS_GETCPU, unix.SYS_GETEGID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETGROUPS,
	unix.SYS_GETPGID, unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETPRIORITY, unix.SYS_GETRANDOM, unix.SYS_GETRESGID,
	unix.SYS_GETRESUID, unix.SYS_GETRLIMIT, unix.SYS_GETRUSAGE, unix.SYS_GETSID, unix.SYS_GETTID, unix.SYS_GETUID,
	unix.SYS_RESTART_SYSCALL, unix.SYS_RSEQ, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_GETPARAM,
	unix.SYS_SCHED_GETSCHEDULER, unix.SYS_SCHED_GET_PRIORITY_MAX, unix.SYS_SCHED_GET_PRIORITY_MIN, unix.SYS_SETRLIMIT,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_SET_TID_ADDRESS, unix.SYS_SYSINFO, unix.SYS_TIMES, unix.SYS_UNAME,
	unix.SYS_WAIT4, unix.SYS_WAITID,

	// Signals to itself, and time.
	unix.SYS_CLOCK_GETRES, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_GETITIMER, unix.SYS_GETTIMEOFDAY, unix.SYS_RT_SIGACTION,
	unix.SYS_RT_SIGPENDING, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGSUSPEND, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_SETITIMER,
	unix.SYS_SIGALTSTACK, unix.SYS_SIGNALFD4, unix.SYS_TIMERFD_CREATE, unix.SYS_TIMERFD_GETTIME,
	unix.SYS_TIMERFD_SETTIME, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_DELETE, unix.SYS_TIMER_GETOVERRUN,
	unix.SYS_TIMER_GETTIME, unix.SYS_TIMER_SETTIME,

	// Sockets that it could make; see callRules for which.
	unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_BIND, unix.SYS_CONNECT, unix.SYS_GETPEERNAME, unix.SYS_GETSOCKNAME,
	unix.SYS_GETSOCKOPT, unix.SYS_LISTEN, unix.SYS_RECVFROM, unix.SYS_RECVMMSG, unix.SYS_RECVMSG, unix.SYS_SENDMMSG,
	unix.SYS_SENDMSG, unix.SYS_SENDTO, unix.SYS_SETSOCKOPT, unix.SYS_SHUTDOWN,
}

// processCalls are allowed in addition to a plugin that may start other programs.
var processCalls = []uint32{
	unix.SYS_CHDIR, unix.SYS_EXECVEAT, unix.SYS_FCHDIR, unix.SYS_KILL, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_SEND_SIGNAL,
	unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_TGKILL,
}

// refusedCalls fail with EPERM, as for a user without the right; programs continue after that. Any other call fails
// with ENOSYS.
var refusedCalls = []uint32{
	unix.SYS_CHDIR, unix.SYS_CHROOT, unix.SYS_FCHDIR, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2,
	unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT, unix.SYS_MKNODAT,
	unix.SYS_TRUNCATE, // by path: before Linux 6.2, Landlock lets a program empty any file
	unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH, unix.SYS_INOTIFY_RM_WATCH,
	unix.SYS_IOPRIO_SET, unix.SYS_KILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
	unix.SYS_SETGID, unix.SYS_SETGROUPS, unix.SYS_SETPGID, unix.SYS_SETREGID, unix.SYS_SETRESGID, unix.SYS_SETRESUID,
	unix.SYS_SETREUID, unix.SYS_SETSID, unix.SYS_SETUID, unix.SYS_CAPSET, unix.SYS_TKILL,
	unix.SYS_PRLIMIT64, unix.SYS_SETPRIORITY, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETATTR,
	unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN,
}

// attributeCalls fail with EOPNOTSUPP, as on a file system without extended attributes.
var attributeCalls = []uint32{
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR,
	unix.SYS_FREMOVEXATTR, unix.SYS_GETXATTR, unix.SYS_LGETXATTR, unix.SYS_FGETXATTR, unix.SYS_LISTXATTR,
	unix.SYS_LLISTXATTR, unix.SYS_FLISTXATTR,
}

// Requests of ioctl that package unix does not name; the same on amd64 and arm64.
const (
	fionbio  = 0x5421
	fioclex  = 0x5451
	fionclex = 0x5450
)

// opening is a call that opens a file, and which of its arguments are the flags and the mode. flags is -1 for a call
// that always makes a file.
type opening struct {
	call        uint32
	flags, mode int
}

// opensAt exists on every architecture.
var opensAt = opening{unix.SYS_OPENAT, 2, 3}

// callRule refuses a call unless every argument in args has one of its values.
type callRule struct {
	call  uint32
	args  []argument
	errno unix.Errno
}

// argument names the values that the argument at an index may have. Only the lower 32 bits are compared: the kernel
// uses no more of these arguments. mask selects the bits that count; 0: all.
type argument struct {
	index  int
	mask   uint32
	values []uint32
}

// callRules returns what is allowed with certain arguments only. pid is the process's own, which exec keeps.
func callRules(r refusal, pid uint32) []callRule {
	self, here := []uint32{0, pid}, []uint32{0} // the ids of its other threads are not known here
	rules := []callRule{
		// Go's runtime interrupts its threads with signals, many times a second.
		{unix.SYS_TGKILL, []argument{{index: 0, values: []uint32{pid}}}, unix.EPERM},
		{unix.SYS_FCNTL, []argument{{index: 1, values: []uint32{
			unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_GETLK,
			unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW, unix.F_GETPIPE_SZ,
		}}}, unix.EINVAL}, // not F_SETOWN, which sends signals to any process, nor leases
		{unix.SYS_IOCTL, []argument{{index: 1, values: []uint32{
			unix.TCGETS, unix.TIOCGWINSZ, unix.TIOCINQ, fionbio, fioclex, fionclex,
		}}}, unix.ENOTTY},
		{unix.SYS_PRCTL, []argument{{index: 0, values: []uint32{
			unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_VMA, unix.PR_GET_DUMPABLE, unix.PR_SET_DUMPABLE,
			unix.PR_CAPBSET_READ, unix.PR_GET_NO_NEW_PRIVS, unix.PR_SET_NO_NEW_PRIVS, unix.PR_GET_SECCOMP,
			unix.PR_GET_TIMERSLACK, unix.PR_SET_TIMERSLACK, unix.PR_GET_THP_DISABLE, unix.PR_SET_THP_DISABLE,
			unix.PR_GET_PDEATHSIG, unix.PR_GET_SPECULATION_CTRL, unix.PR_SET_SPECULATION_CTRL, unix.PR_SVE_GET_VL,
			unix.PR_PAC_RESET_KEYS, unix.PR_GET_TAGGED_ADDR_CTRL, unix.PR_SET_TAGGED_ADDR_CTRL,
		}}}, unix.EPERM}, // not PR_SET_PDEATHSIG, which ends it with the host, nor PR_SET_CHILD_SUBREAPER
		{unix.SYS_SCHED_SETAFFINITY, []argument{{index: 0, values: here}}, unix.EPERM},
		{unix.SYS_SCHED_SETATTR, []argument{{index: 0, values: here}}, unix.EPERM},
		{unix.SYS_SCHED_SETPARAM, []argument{{index: 0, values: here}}, unix.EPERM},
		{unix.SYS_SCHED_SETSCHEDULER, []argument{{index: 0, values: here}}, unix.EPERM},
		{unix.SYS_SETPRIORITY, []argument{
			{index: 0, values: []uint32{unix.PRIO_PROCESS}}, {index: 1, values: here}}, unix.EPERM},
		// Not datagrams: they can be sent to any socket.
		{unix.SYS_SOCKETPAIR, []argument{{index: 0, values: []uint32{unix.AF_UNIX}},
			{index: 1, mask: 0xf, values: []uint32{unix.SOCK_STREAM, unix.SOCK_SEQPACKET}}}, unix.EACCES},
		// Even with a grant for processes it may set only its own limits.
		{unix.SYS_PRLIMIT64, []argument{{index: 0, values: self}}, unix.EPERM},
	}
	if r.processes {
		// Memory to share with a process that it cannot have. No limit counts it.
		const anonymous = unix.MAP_ANONYMOUS
		rules = append(rules, callRule{unix.SYS_MMAP, []argument{{index: 3, mask: unix.MAP_TYPE | anonymous,
			values: []uint32{unix.MAP_PRIVATE, unix.MAP_PRIVATE | anonymous, unix.MAP_SHARED,
				unix.MAP_SHARED_VALIDATE}}}, unix.EPERM})
		rules = append(rules,
			callRule{unix.SYS_KILL, []argument{{index: 0, values: []uint32{pid}}}, unix.EPERM},
			callRule{unix.SYS_RT_SIGQUEUEINFO, []argument{{index: 0, values: []uint32{pid}}}, unix.EPERM},
			callRule{unix.SYS_RT_TGSIGQUEUEINFO, []argument{{index: 0, values: []uint32{pid}}}, unix.EPERM})
	}
	families, kinds := []uint32{unix.AF_UNIX}, []uint32{unix.SOCK_STREAM}
	if !r.sockets { // netlink: the C library asks the kernel for the machine's addresses
		families = append(families, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)
		kinds = append(kinds, unix.SOCK_DGRAM, unix.SOCK_RAW) // raw sockets of AF_INET need a privilege
	}
	return append(rules, callRule{unix.SYS_SOCKET, []argument{
		{index: 0, values: families}, {index: 1, mask: 0xf, values: kinds}}, unix.EACCES})
}
