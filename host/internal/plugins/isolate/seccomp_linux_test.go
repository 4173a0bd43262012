//go:build linux && (amd64 || arm64)

package isolate

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const ownPID = 4711

// judge runs a filter on a call as the kernel would, and returns the verdict.
func judge(t *testing.T, program []unix.SockFilter, arch, call uint32, args ...uint32) uint32 {
	t.Helper()
	var raw []bpf.RawInstruction
	for _, in := range program {
		raw = append(raw, bpf.RawInstruction{Op: in.Code, Jt: in.Jt, Jf: in.Jf, K: in.K})
	}
	instructions, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatal("not all instructions are BPF")
	}
	vm, err := bpf.NewVM(instructions)
	if err != nil {
		t.Fatal(err)
	}
	// What the kernel gives to a filter, but with the bytes of each word as a packet has them.
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[callNumber:], call)
	binary.BigEndian.PutUint32(data[callArch:], arch)
	for i, arg := range args {
		binary.BigEndian.PutUint32(data[callArg0+8*i:], arg)
	}
	verdict, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(verdict)
}

func TestVerdicts(t *testing.T) {
	const (
		allow = unix.SECCOMP_RET_ALLOW
		kill  = unix.SECCOMP_RET_KILL_PROCESS
		ask   = unix.SECCOMP_RET_USER_NOTIF
		thing = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD
		anon  = unix.MAP_ANONYMOUS
	)
	eperm, enosys, eacces := failing(unix.EPERM), failing(unix.ENOSYS), failing(unix.EACCES)
	type call struct {
		name   string
		number uint32
		args   []uint32
		// The verdicts: for a program without a grant, and for one that may use the network and start processes.
		bare, granted uint32
	}
	calls := []call{
		{"read", unix.SYS_READ, nil, allow, allow},
		{"a thread", unix.SYS_CLONE, []uint32{thing}, allow, allow},
		{"a process", unix.SYS_CLONE, []uint32{uint32(unix.SIGCHLD)}, eperm, allow},
		{"a namespace", unix.SYS_CLONE, []uint32{unix.CLONE_NEWUSER | thing}, eperm, eperm},
		{"clone3", unix.SYS_CLONE3, nil, enosys, enosys},
		{"chmod", unix.SYS_FCHMODAT, nil, eperm, eperm},
		{"a file", unix.SYS_OPENAT, []uint32{0, 0, unix.O_RDONLY, unix.S_ISUID}, allow, allow},
		{"a new file", unix.SYS_OPENAT, []uint32{0, 0, unix.O_CREAT | unix.O_RDWR, 0o666}, allow, allow},
		{"a directory", unix.SYS_OPENAT, []uint32{0, 0, unix.O_DIRECTORY, unix.S_ISUID}, allow, allow},
		{"a new setuid file", unix.SYS_OPENAT, []uint32{0, 0, unix.O_CREAT, unix.S_ISUID | 0o755}, eperm, eperm},
		{"a setgid file without a name", unix.SYS_OPENAT, []uint32{0, 0, unix.O_TMPFILE, unix.S_ISGID}, eperm, eperm},
		{"emptying a file", unix.SYS_OPENAT, []uint32{0, 0, unix.O_TRUNC | unix.O_WRONLY}, allow, allow},
		{"emptying a file to read it", unix.SYS_OPENAT, []uint32{0, 0, unix.O_TRUNC}, eperm, eperm},
		{"emptying a file for nothing", unix.SYS_OPENAT, []uint32{0, 0, unix.O_TRUNC | unix.O_ACCMODE}, eperm, eperm},
		{"emptying a file by its path", unix.SYS_TRUNCATE, nil, eperm, eperm},
		{"openat2", unix.SYS_OPENAT2, nil, enosys, enosys},
		{"chdir", unix.SYS_CHDIR, nil, eperm, allow},
		{"memfd", unix.SYS_MEMFD_CREATE, nil, enosys, enosys},
		{"an attribute", unix.SYS_FSETXATTR, nil, failing(unix.EOPNOTSUPP), failing(unix.EOPNOTSUPP)},
		{"unknown", 5000, nil, enosys, enosys},
		{"a unix socket", unix.SYS_SOCKET, []uint32{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow, allow},
		{"unix datagrams", unix.SYS_SOCKET, []uint32{unix.AF_UNIX, unix.SOCK_DGRAM}, eacces, allow},
		{"tcp", unix.SYS_SOCKET, []uint32{unix.AF_INET, unix.SOCK_STREAM}, eacces, allow},
		{"packets", unix.SYS_SOCKET, []uint32{unix.AF_PACKET, unix.SOCK_STREAM}, eacces, eacces},
		{"a pair of datagrams", unix.SYS_SOCKETPAIR, []uint32{unix.AF_UNIX, unix.SOCK_DGRAM}, eacces, eacces},
		{"own limits", unix.SYS_PRLIMIT64, []uint32{0}, allow, allow},
		{"its own limits, by id", unix.SYS_PRLIMIT64, []uint32{ownPID}, allow, allow},
		{"another's limits", unix.SYS_PRLIMIT64, []uint32{1}, eperm, eperm},
		{"a signal to itself", unix.SYS_TGKILL, []uint32{ownPID, 5}, allow, allow},
		{"a signal to another", unix.SYS_TGKILL, []uint32{1, 1}, eperm, allow},
		{"a signal to a thread", unix.SYS_TKILL, []uint32{1}, eperm, allow},
		{"kill", unix.SYS_KILL, []uint32{1}, eperm, allow},
		{"its own memory", unix.SYS_MMAP, []uint32{0, 1, 3, unix.MAP_PRIVATE | anon}, allow, allow},
		{"a mapped file", unix.SYS_MMAP, []uint32{0, 1, 3, unix.MAP_SHARED}, allow, allow},
		{"shared memory", unix.SYS_MMAP, []uint32{0, 1, 3, unix.MAP_SHARED | anon}, eperm, allow},
		{"shared memory, checked", unix.SYS_MMAP, []uint32{0, 1, 3, unix.MAP_SHARED_VALIDATE | anon}, eperm, allow},
		{"its name", unix.SYS_PRCTL, []uint32{unix.PR_SET_NAME}, allow, allow},
		{"the signal of its parent's death", unix.SYS_PRCTL, []uint32{unix.PR_SET_PDEATHSIG}, eperm, eperm},
		{"F_SETOWN", unix.SYS_FCNTL, []uint32{0, unix.F_SETOWN}, failing(unix.EINVAL), failing(unix.EINVAL)},
		{"typing for the terminal", unix.SYS_IOCTL, []uint32{0, unix.TIOCSTI}, failing(unix.ENOTTY), failing(unix.ENOTTY)},
	}
	for _, o := range native.opens {
		args := make([]uint32, 4)
		args[o.mode] = unix.S_ISUID | 0o755
		if o.flags >= 0 {
			args[o.flags] = unix.O_CREAT
		}
		calls = append(calls, call{"a new setuid file", o.call, args, eperm, eperm})
	}
	for _, number := range native.forks {
		calls = append(calls, call{"fork", number, nil, eperm, allow})
	}
	if native.x32 {
		calls = append(calls, call{"read of another convention", x32 | unix.SYS_READ, nil, enosys, enosys})
	}
	bare := filter(*native, refusal{sockets: true, processes: true, signals: true}, ownPID)
	guarded := filter(*native, refusal{sockets: true, processes: true, signals: true, supervise: true}, ownPID)
	granted := filter(*native, refusal{}, ownPID)
	// A grant for the network alone, where Landlock does not guard signals.
	network := filter(*native, refusal{processes: true, signals: true}, ownPID)
	for _, c := range calls {
		if got := judge(t, bare, native.audit, c.number, c.args...); got != c.bare {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.bare)
		}
		if got := judge(t, granted, native.audit, c.number, c.args...); got != c.granted {
			t.Errorf("%s, with grants: %#x, want %#x", c.name, got, c.granted)
		}
		want := c.bare
		if c.number == unix.SYS_SOCKET {
			want = c.granted
		}
		if got := judge(t, network, native.audit, c.number, c.args...); got != want {
			t.Errorf("%s, with a grant for the network: %#x, want %#x", c.name, got, want)
		}
		if got := judge(t, guarded, native.audit, c.number, c.args...); got != c.bare {
			t.Errorf("%s, with a guard: %#x, want %#x", c.name, got, c.bare)
		}
		if got := judge(t, bare, native.audit+1, c.number, c.args...); got != kill {
			t.Errorf("%s, of another architecture: %#x", c.name, got)
		}
	}
	for _, number := range []uint32{unix.SYS_BIND, unix.SYS_CONNECT} {
		if got := judge(t, guarded, native.audit, number); got != ask {
			t.Errorf("%d is not left to the guard: %#x", number, got)
		}
	}
}

// Every call of the lists has the verdict of its list, whatever range it ended up in.
func TestEachListedCallHasItsVerdict(t *testing.T) {
	program := filter(*native, refusal{sockets: true, processes: true, signals: true}, ownPID)
	var checked []uint32 // by their arguments
	for _, rule := range callRules(refusal{sockets: true, processes: true}, ownPID) {
		checked = append(checked, rule.call)
	}
	for verdict, calls := range map[uint32][]uint32{
		unix.SECCOMP_RET_ALLOW:   slices.Concat(allowedCalls, native.allowed),
		failing(unix.EPERM):      slices.Concat(refusedCalls, native.refused, native.forks),
		failing(unix.EOPNOTSUPP): attributeCalls,
	} {
		for _, number := range calls {
			if got := judge(t, program, native.audit, number); got != verdict && !slices.Contains(checked, number) {
				t.Errorf("call %d: %#x, want %#x", number, got, verdict)
			}
		}
	}
}
