package isolate

import (
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Probe reports what this machine can enforce. It asks the kernel, and starts a launcher or two where only trying
// tells. It changes nothing.
func Probe() []Check {
	// Without a launcher there is no isolation at all.
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		return none("without /proc the host cannot be its own launcher")
	}
	if !Registered() {
		return none("this program does not call host.ReexecMain, so that it cannot be a launcher")
	}
	abi := landlockABI()
	files, signals := Check{
		Files, true, fmt.Sprintf("landlock, version %d", abi),
	}, Check{
		Signals, true, fmt.Sprintf("landlock, version %d", abi),
	}
	if abi == 0 {
		files = Check{Files, false, "this kernel has no landlock, or it is switched off"}
	}
	if abi < signalsABI {
		signals = Check{Signals, false, fmt.Sprintf("needs landlock version %d, this kernel has %d", signalsABI, abi)}
	}
	paths := Check{Paths, true, "a mount namespace"}
	sockets := Check{Sockets, true, "mount and network namespaces"}
	// Namespaces depend on sysctls, AppArmor and the container: only trying tells.
	if err := tryMeasures(Paths, Privileges); err != nil {
		paths = Check{Paths, false, "this machine allows no namespaces: " + err.Error()}
		sockets.How = "the host makes its sockets for it (seccomp user notification)"
		if err := tryMeasures(Sockets, Calls, Privileges); err != nil {
			sockets = Check{Sockets, false, "no namespaces, and no seccomp user notification: " + err.Error()}
		}
	} else if !canMount() {
		// Without CAP_SYS_ADMIN a user namespace comes first; in it the others may be made.
		paths.How, sockets.How = "user and mount namespaces", "user, mount and network namespaces"
	}
	if !signals.Works && sockets.Works && filters(Calls).Works {
		signals = Check{Signals, true, SignalsByFilter}
	}
	disk, threads := Check{Disk, true, "looked at every second"}, Check{Threads, true, "looked at 50 times a second"}
	memory, end := Check{Memory, true, "RLIMIT_DATA, GOMEMLIMIT"}, ending()
	// The kernel's own bound is exact. Where there is none, a process is ended after the fact, see watchUse in package
	// process.
	if paths.Works {
		disk.How = fmt.Sprintf("a file system of its own, %d MiB", MaxDisk>>20)
		if !canMount() {
			threads.How = fmt.Sprintf("RLIMIT_NPROC in its user namespace, %d", MaxThreads)
		}
	}
	// A control group counts what no limit of a process does, and lets nothing out.
	groups, err := findGroups()
	switch {
	case err != nil:
		memory.How += "; the rest is looked at every second, for want of a control group: " + err.Error()
	case !groups.bounds(memoryController):
		memory.How += "; the rest is looked at every second: its control group has no memory controller"
	default:
		memory.How += ", a control group (memory.max)"
	}
	if groups.bounds(tasksController) {
		threads.How = fmt.Sprintf("a control group (pids.max), %d", MaxThreads)
	}
	if groups != nil && end.Works {
		end.How += ", a control group"
	}
	return []Check{
		{Privileges, true, "no_new_privs, no capabilities"},
		files,
		paths,
		filters(Network),
		sockets,
		filters(Processes),
		filters(Calls),
		signals,
		end,
		{Descriptors, true, "all but the standard three and the lifeline are closed"},
		memory,
		disk,
		threads,
		{Limits, true, "open files, file size, core dumps"},
	}
}

func ending() Check {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return Check{Ending, false, "this kernel has no pidfds: " + err.Error()}
	}
	_ = unix.Close(fd)
	return Check{Ending, true, "a watcher process (pidfd)"}
}

func filters(m Measure) Check {
	if native == nil {
		return Check{m, false, "there is no filter of system calls for " + runtime.GOARCH}
	}
	// Asking installs nothing: a filter could not be removed from this process.
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return Check{m, false, "this kernel does not filter system calls (seccomp): " + errno.Error()}
	}
	return Check{m, true, "a filter of system calls (seccomp)"}
}

const probeTimeout = 5 * time.Second

// tryMeasures starts a launcher that only takes these measures, and returns why it cannot. Security modules and
// containers forbid some in many ways that cannot be asked for.
func tryMeasures(apply ...Measure) error {
	dir, err := os.MkdirTemp("", "thresh-probe")
	if err != nil {
		return err
	}
	defer os.Remove(dir)
	spec := Spec{Trial: true, RunDir: dir, Apply: apply}
	l, err := NewLauncher(spec, nil)
	if err != nil {
		return err
	}
	defer l.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	process, err := os.StartProcess(l.Path, l.Args, &os.ProcAttr{
		Env: []string{}, Files: append([]*os.File{null, null, null}, l.Inherit...), Sys: l.Attr,
	})
	if err != nil {
		return err
	}
	guard, err := l.Become(spec, Handles{}, probeTimeout)
	if guard != nil {
		_ = guard.Close()
	}
	if err != nil {
		// It may hang in the measure that failed; Wait must not hang with it.
		_ = process.Kill()
	}
	_, _ = process.Wait()
	return err
}
