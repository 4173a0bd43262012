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
// killing the program would hide the reason.
func filterCalls(spec Spec) error {
	if native == nil {
		return errors.New("no filter for " + runtime.GOARCH)
	}
	program := filter(*native, refusal{
		sockets:   slices.Contains(spec.Apply, Network) && !spec.Network,
		processes: slices.Contains(spec.Apply, Processes) && !spec.Processes,
		signals:   !landlockGuardsSignals(spec),
	}, uint32(os.Getpid()))
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return errno
	}
	return nil
}

// refusal selects what a filter refuses in addition to what no plugin may do: sockets other than Unix sockets, new
// processes, and signals by thread id, of which a filter cannot know the process that they go to.
type refusal struct{ sockets, processes, signals bool }

// assembler collects a BPF program.
type assembler []unix.SockFilter

func (a *assembler) add(code uint16, k uint32, jt, jf uint8) {
	*a = append(*a, unix.SockFilter{Code: code, K: k, Jt: jt, Jf: jf})
}
func (a *assembler) load(offset uint32)      { a.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }
func (a *assembler) answer(verdict uint32)   { a.add(unix.BPF_RET|unix.BPF_K, verdict, 0, 0) }
func (a *assembler) allow()                  { a.answer(unix.SECCOMP_RET_ALLOW) }
func (a *assembler) refuse(errno unix.Errno) { a.answer(unix.SECCOMP_RET_ERRNO | uint32(errno)) }

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
func (a *assembler) argument(arg argument, errno unix.Errno) {
	a.load(callArg0 + 8*uint32(arg.index))
	if arg.mask != 0 {
		a.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, arg.mask, 0, 0)
	}
	for i, value := range arg.values {
		a.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, value, uint8(len(arg.values)-i), 0)
	}
	a.refuse(errno)
}

// filter returns the BPF program that the kernel runs for each call. It is a plain list. Since Linux 5.11 the kernel
// runs it once for each call whose verdict does not depend on arguments, and remembers the verdict; so the calls that
// need their arguments checked come first.
func filter(arch architecture, r refusal, pid uint32) []unix.SockFilter {
	var a assembler
	refuse := func(a *assembler) { a.refuse(unix.EPERM) }
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
	for _, rule := range callRules(r, pid) {
		a.when(rule.call, func(a *assembler) {
			for _, arg := range rule.args {
				a.argument(arg, rule.errno)
			}
			a.allow()
		})
	}
	a.when(unix.SYS_CLONE, func(a *assembler) {
		a.load(callArg0) // its flags
		a.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, namespaces, 0, 1)
		a.refuse(unix.EPERM)
		if r.processes {
			a.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, unix.CLONE_THREAD, 1, 0)
			a.refuse(unix.EPERM)
		}
		a.allow()
	})
	a.each(allowedCalls, (*assembler).allow)
	a.each(arch.allowed, (*assembler).allow)
	a.each(slices.Concat(refusedCalls, arch.refused, arch.forks), refuse)
	a.each(attributeCalls, func(a *assembler) { a.refuse(unix.EOPNOTSUPP) })
	// Also clone3, whose arguments lie in memory where a filter does not see them. A program that is told that there is
	// no such call uses clone.
	a.refuse(unix.ENOSYS)
	return a
}
