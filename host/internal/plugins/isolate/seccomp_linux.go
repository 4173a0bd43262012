//go:build linux && (amd64 || arm64)

package isolate

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// architecture is what a system call filter must know about a processor architecture, besides the numbers of the calls
// in calls_linux.go.
type architecture struct {
	audit   uint32   // its number in what the filter sees (AUDIT_ARCH_…)
	x32     bool     // it has calls of a second convention besides its own
	forks   []uint32 // calls that make processes and nothing else
	allowed []uint32 // calls that only it has
	refused []uint32 // likewise, refused with EPERM
}

// namespaces are the flags of clone that create namespaces. In its own user namespace a process is root and reaches
// much more of the kernel. (CLONE_NEWTIME is not among clone's flags.) With CLONE_PARENT, a new process would be the
// host's child and outlive the plugin.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_PARENT

// Where things stand in what a filter sees of a call (struct seccomp_data).
const (
	callNumber = 0
	callArch   = 4
	callArg0   = 16 // the lower half, on machines that put it first, as all in architectures do
	// x32 is set in the numbers of calls of that convention.
	x32 = 0x40000000
)

// filterCalls installs the filter of system calls. Refused calls return an error that programs know how to handle;
// killing the program would hide the reason. The host is asked about most of them, to know what was refused; where the
// kernel cannot do that, or the host is under such a filter itself, it never learns.
func filterCalls(spec Spec) error {
	if native == nil {
		return errors.New("no filter for " + runtime.GOARCH)
	}
	r := refusal{
		sockets:   slices.Contains(spec.Apply, Network) && !spec.Network,
		processes: slices.Contains(spec.Apply, Processes) && !spec.Processes,
		signals:   !landlockGuardsSignals(spec),
		tell:      true,
		supervise: slices.Contains(spec.Apply, Sockets) && !slices.Contains(spec.Apply, Paths),
	}
	fd, err := install(filter(*native, r, uint32(os.Getpid())), unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	if err == nil {
		return handOver(spec.Status, fd)
	}
	if r.supervise {
		return err
	}
	r.tell = false
	_, err = install(filter(*native, r, uint32(os.Getpid())), 0)
	return err
}

// install installs a filter, and returns the descriptor that flags may ask for.
func install(program []unix.SockFilter, flags uintptr) (fd int, err error) {
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	n, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}

// refusal selects what a filter refuses in addition to what no plugin may do: sockets other than Unix sockets, new
// processes, and signals by thread id, of which a filter cannot know the process that they go to. With tell, a [Guard]
// is told what was refused; with supervise, it makes the sockets.
type refusal struct{ sockets, processes, signals, tell, supervise bool }

// assembler collects a BPF program.
type assembler []unix.SockFilter

func (a *assembler) add(code uint16, k uint32, jt, jf uint8) {
	*a = append(*a, unix.SockFilter{Code: code, K: k, Jt: jt, Jf: jf})
}
func (a *assembler) load(offset uint32)      { a.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }
func (a *assembler) answer(verdict uint32)   { a.add(unix.BPF_RET|unix.BPF_K, verdict, 0, 0) }
func (a *assembler) allow()                  { a.answer(unix.SECCOMP_RET_ALLOW) }
func (a *assembler) refuse(errno unix.Errno) { a.answer(unix.SECCOMP_RET_ERRNO | uint32(errno)) }
func (a *assembler) ask()                    { a.answer(unix.SECCOMP_RET_USER_NOTIF) }

// when runs the instructions that body adds only for a call, whose number must be loaded. body must end with a verdict.
func (a *assembler) when(call uint32, body func(*assembler)) {
	var inner assembler
	body(&inner)
	a.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, call, 0, uint8(len(inner)))
	*a = append(*a, inner...)
}

// each gives all calls the same verdict.
func (a *assembler) each(calls []uint32, verdict func(*assembler)) {
	for _, call := range calls {
		a.when(call, verdict)
	}
}

// argument goes on if an argument has one of its values, and refuses the call otherwise.
func (a *assembler) argument(arg argument, refuse func(*assembler)) {
	a.load(callArg0 + 8*uint32(arg.index))
	if arg.mask != 0 {
		a.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, arg.mask, 0, 0)
	}
	for i, value := range arg.values {
		a.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, value, uint8(len(arg.values)-i), 0)
	}
	refuse(a)
}

// filter returns the BPF program that the kernel runs for each call. It is a plain list. Since Linux 5.11 the kernel
// runs it once for each call whose verdict does not depend on arguments, and remembers the verdict; so the calls that
// need their arguments checked come first.
func filter(arch architecture, r refusal, pid uint32) []unix.SockFilter {
	var a assembler
	// told refuses a call of which the host is to know, if it can be told; [Guard] answers with the same error.
	told := func(errno unix.Errno) func(*assembler) {
		return func(a *assembler) {
			if r.tell {
				a.ask()
			} else {
				a.refuse(errno)
			}
		}
	}
	a.load(callArch)
	a.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, arch.audit, 1, 0)
	a.answer(unix.SECCOMP_RET_KILL_PROCESS) // numbers of another architecture mean other calls
	a.load(callNumber)
	if arch.x32 {
		a.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, x32, 0, 1)
		a.refuse(unix.ENOSYS)
	}
	if !r.processes { // before the rules, which allow some of these calls on itself only
		a.each(slices.Concat(processCalls, arch.forks), (*assembler).allow)
	}
	if !r.signals {
		a.when(unix.SYS_TKILL, (*assembler).allow) // musl signals its own threads by it
	}
	if r.supervise {
		a.each([]uint32{unix.SYS_BIND, unix.SYS_CONNECT}, (*assembler).ask)
	}
	for _, rule := range callRules(r, pid) {
		refuse := func(a *assembler) { a.refuse(rule.errno) }
		if rule.call == unix.SYS_SOCKET {
			refuse = told(rule.errno)
		}
		a.when(rule.call, func(a *assembler) {
			for _, arg := range rule.args {
				a.argument(arg, refuse)
			}
			a.allow()
		})
	}
	a.when(unix.SYS_CLONE, func(a *assembler) {
		a.load(callArg0) // its flags
		a.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, namespaces, 0, 1)
		told(unix.EPERM)(a)
		if r.processes {
			a.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, unix.CLONE_THREAD, 1, 0)
			told(unix.EPERM)(a)
		}
		a.allow()
	})
	a.each(allowedCalls, (*assembler).allow)
	a.each(arch.allowed, (*assembler).allow)
	a.each(slices.Concat(refusedCalls, arch.refused, arch.forks), told(unix.EPERM))
	a.each(attributeCalls, func(a *assembler) { a.refuse(unix.EOPNOTSUPP) })
	// The arguments of clone3 lie in memory where a filter does not see them. A program that is told that there is no
	// such call uses clone.
	a.when(unix.SYS_CLONE3, func(a *assembler) { a.refuse(unix.ENOSYS) })
	told(unix.ENOSYS)(&a)
	return a
}
