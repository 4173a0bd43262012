package isolate

import (
	"errors"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// architecture is what a system call filter must know about a processor architecture.
type architecture struct {
	// Its number in what the filter sees (AUDIT_ARCH_…).
	audit uint32 // its number in what the filter sees
	// Calls that create processes and nothing else.
	forks []uint32 // calls that make processes and nothing else
	// It also accepts the calls of another convention.
	x32 bool // it has calls of a second convention besides its own
}

// architectures are those for which filters exist. On others the measures count as missing.
var architectures = map[string]architecture{
	"amd64": {audit: unix.AUDIT_ARCH_X86_64, forks: []uint32{57, 58}, x32: true}, // fork and vfork
	"arm64": {audit: unix.AUDIT_ARCH_AARCH64},
}

// forbidden are calls that would bypass the other measures: io_uring creates sockets without calling socket; the rest
// reach into other processes, or change what a process can see.
var forbidden = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_MOUNT_SETATTR,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
}

// namespaces are the flags of clone that create namespaces. In its own user namespace a process is root and reaches
// much more of the kernel. (CLONE_NEWTIME is not among clone's flags.)
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Where things stand in what a filter sees of a call (struct seccomp_data).
const (
	callNumber = 0
	callArch   = 4
	callArg0   = 16 // the lower half, on machines that put it first, as all in architectures do
	// x32 is set in the numbers of calls of that convention.
	x32 = 0x40000000
)

// filterCalls installs a filter that refuses the calls in forbidden, new namespaces, sockets other than Unix sockets,
// and new processes; the latter two as far as they are asked for and not granted. Refused calls return an error that
// programs know how to handle; killing the program would hide the reason.
func filterCalls(spec Spec) error {
	arch, ok := architectures[runtime.GOARCH]
	if !ok {
		return errors.New("no filter for " + runtime.GOARCH)
	}
	program := filter(arch, refusal{
		sockets:   slices.Contains(spec.Apply, Network) && !spec.Network,
		processes: slices.Contains(spec.Apply, Processes) && !spec.Processes,
	})
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return errno
	}
	return nil
}

// refusal selects what a filter refuses in addition to the calls in forbidden and to new namespaces.
type refusal struct{ sockets, processes bool }

// filter returns the BPF program that the kernel runs for each call. It is a plain list, and the calls that need their
// arguments checked come last: since Linux 5.11 the kernel runs it once for each call whose verdict does not depend on
// arguments, and remembers the verdict.
func filter(arch architecture, r refusal) []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	// skipUnless goes on with the next instruction if the loaded value compares so, else after n more.
	skipUnless := func(how uint16, k uint32, n uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, Jf: n, K: k}
	}
	answer := func(k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k}
	}
	refuse := func(errno unix.Errno) unix.SockFilter { return answer(unix.SECCOMP_RET_ERRNO | uint32(errno)) }
	allow := answer(unix.SECCOMP_RET_ALLOW)

	program := []unix.SockFilter{
		load(callArch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: arch.audit},
		answer(unix.SECCOMP_RET_KILL_PROCESS), // numbers of another architecture mean other calls
		load(callNumber),
	}
	if arch.x32 {
		program = append(program, skipUnless(unix.BPF_JGE, x32, 1), refuse(unix.ENOSYS))
	}
	for _, call := range forbidden {
		program = append(program, skipUnless(unix.BPF_JEQ, call, 1), refuse(unix.ENOSYS))
	}
	if r.processes {
		for _, call := range arch.forks {
			program = append(program, skipUnless(unix.BPF_JEQ, call, 1), refuse(unix.EPERM))
		}
	}
	program = append(program,
		// Its arguments lie in memory, where a filter does not see them. Who is told that there is no such call uses
		// clone.
		skipUnless(unix.BPF_JEQ, unix.SYS_CLONE3, 1), refuse(unix.ENOSYS))
	clone := []unix.SockFilter{
		load(callArg0), // its flags; the rest of the program is not reached with them loaded
		skipUnless(unix.BPF_JSET, namespaces, 1), refuse(unix.EPERM),
	}
	if r.processes {
		clone = append(clone, skipUnless(unix.BPF_JSET, unix.CLONE_THREAD, 1), allow, refuse(unix.EPERM))
	} else {
		clone = append(clone, allow)
	}
	program = append(program, skipUnless(unix.BPF_JEQ, unix.SYS_CLONE, uint8(len(clone))))
	program = append(program, clone...)
	if r.sockets {
		program = append(program,
			skipUnless(unix.BPF_JEQ, unix.SYS_SOCKET, 4),
			load(callArg0),
			skipUnless(unix.BPF_JEQ, unix.AF_UNIX, 1),
			allow,
			refuse(unix.EACCES),
		)
	}
	return append(program, allow)
}
