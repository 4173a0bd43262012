package isolate

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Main makes the program able to be a launcher or a [Watcher]. Call it first in main: in these it does not return.
// Launchers and watchers end with syscall.Exit: os.Exit of a program with the race detector waits for a second.
func Main() {
	registered.Store(true)
	if len(os.Args) == 1 && os.Args[0] == watcherName {
		watch()
		syscall.Exit(0)
	}
	if len(os.Args) != 1 || os.Args[0] != launcherName {
		return
	}
	// What follows binds one thread, and the program inherits it from the thread that starts it.
	runtime.LockOSThread()
	spec, err := told()
	if err != nil { // the host does not need it, or is gone
		syscall.Exit(launcherFailed)
	}
	// Without a text on the socket, the host would take the end for success.
	text, _ := json.Marshal(become(spec))
	_, _ = unix.Write(controlFD, text)
	syscall.Exit(launcherFailed)
}

// launcherFailed informs people only; the host reads the socket.
const launcherFailed = 125

// steps are taken in this order: mounting needs privileges and no Landlock, and the filter of system calls forbids what
// those before it need. A step runs if any of its measures is wanted; a [Failure] reports its name.
var steps = []struct {
	name     Measure
	measures []Measure
	do       func(Spec) error
}{
	{Paths, []Measure{Paths}, hideFiles},
	{Descriptors, []Measure{Descriptors}, closeDescriptors},
	{Limits, []Measure{Limits}, setLimits},
	{Threads, []Measure{Threads}, limitThreads},
	{Privileges, []Measure{Files, Network, Processes, Calls}, keepPrivileges}, // they need it, without root
	{Files, []Measure{Files}, limitFiles},
	{Privileges, []Measure{Privileges}, dropPrivileges},
	{Calls, []Measure{Network, Processes, Calls}, filterCalls},
	{Memory, []Measure{Memory}, limitMemory}, // the launcher itself may have more than the program is allowed
}

// become takes the measures, then becomes the program with exec, on a locked thread. It returns only on failure.
func become(spec Spec) *Failure {
	if err := unix.Chdir(spec.RunDir); err != nil {
		return newFailure("run directory", err)
	}
	for _, step := range steps {
		wanted := slices.ContainsFunc(step.measures, func(m Measure) bool { return slices.Contains(spec.Apply, m) })
		if !wanted {
			continue
		}
		if err := step.do(spec); err != nil {
			return newFailure(string(step.name), err)
		}
	}
	if spec.Trial {
		syscall.Exit(0)
	}
	// By its descriptor: its name may lead to another file by now.
	return newFailure(stepExec, syscall.Exec(binaryPath, spec.Args, spec.Env))
}

// closeDescriptors closes, at exec, every descriptor that the program should not have. The host may have inherited some
// without knowing, such as a connection of the shell that started it, and os/exec passes those on.
func closeDescriptors(spec Spec) error {
	first := binaryFD
	if spec.KeepBinary {
		first++
	}
	return closeFrom(first, math.MaxInt32)
}

// closeFrom marks a range of descriptors for exec to close: the launcher still needs its own. last may be above any
// open descriptor.
func closeFrom(first, last int) error {
	err := unix.CloseRange(uint(first), uint(last), unix.CLOSE_RANGE_CLOEXEC)
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	// a kernel before 5.11
	open, err := os.ReadDir("/proc/self/fd")
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first && fd <= last {
			unix.CloseOnExec(fd)
		}
	}
	return err
}

// keepPrivileges makes sure that no program gains any, such as a setuid one, nor anything it starts.
func keepPrivileges(Spec) error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// setLimits bounds open files, the size of a written file and core dumps (none: they could contain conversation). The
// number of open files also bounds what the kernel keeps in pipes and sockets.
func setLimits(spec Spec) error {
	files := uint64(maxOpen)
	if spec.Network || spec.Processes {
		files = maxOpenGranted
	}
	var errs []error
	for resource, most := range map[int]uint64{
		unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: files, unix.RLIMIT_FSIZE: MaxDisk,
	} {
		errs = append(errs, limit(resource, most))
	}
	return errors.Join(errs...)
}

// Without a grant a program needs few files besides its connection.
const maxOpen, maxOpenGranted = 256, 1024

// limitMemory bounds the memory that the program can write to, not its address space: runtimes reserve far more than
// they use.
func limitMemory(spec Spec) error {
	if spec.MaxMemory == 0 {
		return nil
	}
	return limit(unix.RLIMIT_DATA, spec.MaxMemory)
}

// limitThreads bounds the number of threads in a user namespace, where the kernel counts that namespace alone.
// Elsewhere it would count the user's threads on the whole machine, so one plugin could be refused a thread because of
// the user's browser. Nor does it bind root.
func limitThreads(spec Spec) error {
	if !spec.OwnUser {
		return nil
	}
	return limit(unix.RLIMIT_NPROC, MaxThreads)
}

// limit lowers a resource limit for good, including the hard limit; it never raises one.
func limit(resource int, most uint64) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(resource, &now); err != nil {
		return err
	}
	most = min(most, now.Max)
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: most, Max: most})
}

// dropPrivileges makes sure that the program has no capabilities, even as root, and gets none.
func dropPrivileges(Spec) error {
	if err := keepPrivileges(Spec{}); err != nil {
		return err
	}
	// What a launcher in a user namespace got for mounting would otherwise pass to the program.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	for c := range uintptr(64) {
		// A program that root starts gets all capabilities of the bounding set.
		switch err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); {
		case errors.Is(err, unix.EINVAL): // no more capabilities
			return nil
		case errors.Is(err, unix.EPERM) && os.Geteuid() != 0: // it has none, and gets none
			return nil
		case err != nil && !errors.Is(err, unix.EPERM):
			return err
		}
	}
	return nil
}
