//go:build linux && (amd64 || arm64)

package isolate

import (
	"errors"
	"maps"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// architecture is what differs between processor architectures, besides the numbers of the calls in calls_linux.go.
type architecture struct {
	audit   uint32   // AUDIT_ARCH_…
	x32     bool     // calls of a second convention besides its own
	forks   []uint32 // make processes and nothing else
	allowed []uint32 // calls that only it has
	refused []uint32 // likewise, refused with EPERM
	opens   []opening
}

// namespaces are the flags of clone that create namespaces: in its own user namespace a process is root and reaches
// much more of the kernel. (CLONE_NEWTIME is not among clone's flags.) With CLONE_PARENT, a new process would be the
// host's child and outlive the plugin.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_PARENT

// Offsets in struct seccomp_data.
const (
	callNumber = 0
	callArch   = 4
	callArg0   = 16 // the lower half, on little-endian machines as all in architectures are
	// x32 is set in the numbers of calls of that convention.
	x32 = 0x40000000
)

// filterCalls installs the filter of system calls. Refused calls return an error that programs know how to handle;
// killing the program would hide the reason.
func filterCalls(spec Spec) error {
	if native == nil {
		return errors.New("no filter for " + runtime.GOARCH)
	}
	r := refusal{
		sockets:   slices.Contains(spec.Apply, Network) && !spec.Network,
		processes: slices.Contains(spec.Apply, Processes) && !spec.Processes,
		signals:   !landlockGuardsSignals(spec),
		supervise: slices.Contains(spec.Apply, Sockets) && !slices.Contains(spec.Apply, Paths),
	}
	program := filter(*native, r, uint32(os.Getpid()))
	if !r.supervise {
		_, err := install(program, 0)
		return err
	}
	fd, err := install(program, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	if err != nil {
		return err
	}
	return handOver(fd)
}

// install returns the descriptor that flags may ask for.
func install(program []unix.SockFilter, flags uintptr) (fd int, err error) {
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	n, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}

// refusal selects what a filter refuses besides what no plugin may do: sockets other than Unix sockets, new processes,
// and signals by thread id, because a filter cannot tell whose thread that is. With supervise, a [Guard] makes the
// sockets.
type refusal struct{ sockets, processes, signals, supervise bool }

// assembler collects a BPF program. Jumps are relative and at most 255 instructions long, so bodies are put together
// first.
type assembler []unix.SockFilter

// add appends an instruction; jt and jf are how many to skip if a jump's condition holds or not.
func (a *assembler) add(code uint16, k uint32, jt, jf uint8) {
	*a = append(*a, unix.SockFilter{Code: code, K: k, Jt: jt, Jf: jf})
}
func (a *assembler) load(offset uint32)    { a.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }
func (a *assembler) answer(verdict uint32) { a.add(unix.BPF_RET|unix.BPF_K, verdict, 0, 0) }

func failing(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

// when runs what body adds only for a call, whose number must be loaded. body must end with a verdict.
func (a *assembler) when(call uint32, body func(*assembler)) {
	var inner assembler
	body(&inner)
	a.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, call, 0, uint8(len(inner)))
	*a = append(*a, inner...)
}

// argument answers with refusal unless an argument has one of its values.
func (a *assembler) argument(arg argument, refusal uint32) {
	a.load(callArg0 + 8*uint32(arg.index))
	if arg.mask != 0 {
		a.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, arg.mask, 0, 0)
	}
	for i, value := range arg.values {
		a.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, value, uint8(len(arg.values)-i), 0)
	}
	a.answer(refusal)
}

// writingOrKeeping are the flags that empty a file only when opening it for writing. Before Linux 6.2, the others empty
// even files that Landlock lets no one write to.
var writingOrKeeping = []uint32{
	unix.O_RDONLY, unix.O_WRONLY, unix.O_RDWR, unix.O_ACCMODE, unix.O_TRUNC | unix.O_WRONLY, unix.O_TRUNC | unix.O_RDWR,
}

// opening allows a call that opens a file, unless it empties what it does not write to, or makes a setuid or setgid
// file: a program may not change the mode of a file, nor give a new one such a mode.
func (a *assembler) opening(o opening, refusal uint32) {
	// O_TMPFILE contains O_DIRECTORY, which makes nothing.
	const makes, allowed = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY, unix.SECCOMP_RET_ALLOW
	a.when(o.call, func(a *assembler) {
		if o.flags >= 0 {
			a.argument(argument{o.flags, unix.O_TRUNC | unix.O_ACCMODE, writingOrKeeping}, refusal)
			a.load(callArg0 + 8*uint32(o.flags))
			a.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, makes, 1, 0)
			a.answer(allowed) // the mode has no meaning, and may be any value
		}
		a.load(callArg0 + 8*uint32(o.mode))
		a.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, unix.S_ISUID|unix.S_ISGID, 0, 1)
		a.answer(refusal)
		a.answer(allowed)
	})
}

// ranged is the verdict for call numbers from first up to the next range.
type ranged struct{ first, verdict uint32 }

// ranges sorts calls by number, and joins neighbours with the same verdict. Numbers not in verdicts get last.
func ranges(verdicts map[uint32]uint32, last uint32) []ranged {
	out := []ranged{{0, last}}
	to := func(first, verdict uint32) {
		switch end := &out[len(out)-1]; {
		case end.verdict == verdict:
		case end.first == first:
			end.verdict = verdict
		default:
			out = append(out, ranged{first, verdict})
		}
	}
	for _, call := range slices.Sorted(maps.Keys(verdicts)) {
		to(call, verdicts[call])
		if _, next := verdicts[call+1]; !next {
			to(call+1, last)
		}
	}
	return out
}

// search finds the range of a call by halving, and answers with its verdict. The number must be loaded.
func (a *assembler) search(in []ranged) {
	if len(in) == 1 {
		a.answer(in[0].verdict)
		return
	}
	half := len(in) / 2
	var lower assembler
	lower.search(in[:half])
	a.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, in[half].first, 0, 1)
	a.add(unix.BPF_JMP|unix.BPF_JA, uint32(len(lower)), 0, 0) // a conditional jump reaches 255 instructions only
	*a = append(*a, lower...)
	a.search(in[half:])
}

// filter returns the BPF program that the kernel runs for each call. Since Linux 5.11 the kernel remembers the verdicts
// that do not depend on arguments. So the calls that need their arguments checked come first, and the others are
// searched: a list would add half a millisecond to a start.
func filter(arch architecture, r refusal, pid uint32) []unix.SockFilter {
	var a assembler
	const allowed = unix.SECCOMP_RET_ALLOW
	a.load(callArch)
	a.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, arch.audit, 1, 0)
	a.answer(unix.SECCOMP_RET_KILL_PROCESS) // numbers of another architecture mean other calls
	a.load(callNumber)
	if arch.x32 {
		a.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, x32, 0, 1)
		a.answer(failing(unix.ENOSYS))
	}
	verdicts := make(map[uint32]uint32)
	give := func(verdict uint32, calls ...uint32) { // the first verdict counts
		for _, call := range calls {
			if _, given := verdicts[call]; !given {
				verdicts[call] = verdict
			}
		}
	}
	if !r.processes { // before the rules, which allow some of these calls on itself only
		give(allowed, slices.Concat(processCalls, arch.forks)...)
	}
	if !r.signals {
		give(allowed, unix.SYS_TKILL) // musl signals its own threads by it
	}
	if r.supervise {
		give(unix.SECCOMP_RET_USER_NOTIF, unix.SYS_BIND, unix.SYS_CONNECT)
	}
	for _, rule := range callRules(r, pid) {
		if _, given := verdicts[rule.call]; given {
			continue
		}
		a.when(rule.call, func(a *assembler) {
			for _, arg := range rule.args {
				a.argument(arg, failing(rule.errno))
			}
			a.answer(allowed)
		})
	}
	for _, o := range append([]opening{opensAt}, arch.opens...) {
		a.opening(o, failing(unix.EPERM))
	}
	// Threads are clones with CLONE_THREAD; everything else that clone makes is a process.
	a.when(unix.SYS_CLONE, func(a *assembler) {
		a.load(callArg0)
		a.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, namespaces, 0, 1)
		a.answer(failing(unix.EPERM))
		if r.processes {
			a.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, unix.CLONE_THREAD, 1, 0)
			a.answer(failing(unix.EPERM))
		}
		a.answer(allowed)
	})
	give(allowed, slices.Concat(allowedCalls, arch.allowed)...)
	give(failing(unix.EPERM), slices.Concat(refusedCalls, arch.refused, arch.forks)...)
	give(failing(unix.EOPNOTSUPP), attributeCalls...)
	// The arguments of clone3 lie in memory where a filter does not see them. Told that it does not exist, programs use
	// clone.
	give(failing(unix.ENOSYS), unix.SYS_CLONE3)
	a.search(ranges(verdicts, failing(unix.ENOSYS)))
	return a
}
