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

// Main makes the program able to be a launcher or a [Watcher]. Call it first in main: in these it does not return. A
// launcher is a second start of the same program, because Go cannot run code between fork and exec, and the
// restrictions must apply to the child only.
//
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
	// All that follows concerns one thread, and the program inherits it from the one that starts it.
	runtime.LockOSThread()
	spec, err := told()
	if err != nil { // the host does not need it, or is gone
		syscall.Exit(launcherFailed)
	}
	// become returns only to report a failure. Without a text on the socket, the host would take the end for success.
	text, _ := json.Marshal(become(spec))
	_, _ = unix.Write(controlFD, text)
	syscall.Exit(launcherFailed)
}

// launcherFailed is the exit status of a launcher that failed. It informs people only; the host reads the socket.
const launcherFailed = 125

// steps are what a launcher does for each measure, in this order: mounting needs privileges and no Landlock, and the
// filter of system calls forbids what the others need. Measures that share a step are taken together. A step runs if
// any of its measures is wanted. The name is what a [Failure] reports.
var steps = []struct {
	name     Measure
	measures []Measure
	do       func(Spec) error
}{
	{Paths, []Measure{Paths}, hideFiles},
	{Descriptors, []Measure{Descriptors}, closeDescriptors},
	{Limits, []Measure{Limits}, setLimits},
	{Memory, []Measure{Memory}, limitMemory},
	{Threads, []Measure{Threads}, limitThreads},
	{Privileges, []Measure{Files, Network, Processes, Calls}, keepPrivileges}, // without root, they need it
	{Files, []Measure{Files}, limitFiles},
	{Privileges, []Measure{Privileges}, dropPrivileges},
	{Calls, []Measure{Network, Processes, Calls}, filterCalls},
}

// become takes the measures and then becomes the program with exec. It returns only if something failed, and is to be
// called on a locked thread.
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
	// A trial finds out whether the measures work here, without a program.
	if spec.Trial {
		syscall.Exit(0)
	}
	// By its descriptor: its name may lead to another file by now.
	return newFailure(stepExec, syscall.Exec(binaryPath, spec.Args, spec.Env))
}

// closeDescriptors closes, when the program begins, every descriptor that it is not meant to have. The host may have
// inherited some without knowing, such as a connection of the shell that started it, and os/exec passes those on.
func closeDescriptors(spec Spec) error {
	first := binaryFD
	if spec.KeepBinary {
		first++
	}
	return closeFrom(first, math.MaxInt32)
}

// closeFrom marks a range of descriptors to be closed by exec. The launcher itself still needs its own. last may be
// above any descriptor that is open.
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

// keepPrivileges makes sure that no program gains any, such as a setuid one. It stays set for everything that the
// program starts.
func keepPrivileges(Spec) error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// setLimits bounds open files, the size of a written file and core dumps (none: they could contain conversation). The
// kernel keeps what is in pipes and sockets for a program; how much that is depends on how many it can have open.
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

// How many files a program may have open: without a grant it needs few besides its connection.
const maxOpen, maxOpenGranted = 256, 1024

// limitMemory bounds the memory that the program can write to. The size of its address space would be the wrong
// measure: runtimes reserve far more than they use.
func limitMemory(spec Spec) error {
	if spec.MaxMemory == 0 {
		return nil
	}
	return limit(unix.RLIMIT_DATA, spec.MaxMemory)
}

// limitThreads bounds the number of threads where the kernel can do that: in a user namespace of its own, it counts
// those of the namespace alone. Elsewhere it would count those of the user on the whole machine, so that one plugin
// could be refused a thread because of another's, or of the user's browser. Nor does it bind root.
func limitThreads(spec Spec) error {
	if !spec.OwnUser {
		return nil
	}
	return limit(unix.RLIMIT_NPROC, MaxThreads)
}

// limit lowers a resource limit for good; it never raises one. The hard limit is lowered too, so that the program
// cannot raise it again.
func limit(resource int, most uint64) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(resource, &now); err != nil {
		return err
	}
	most = min(most, now.Max)
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: most, Max: most})
}

// dropPrivileges makes sure that the program has no capabilities, even if it is root's, and gets none.
func dropPrivileges(Spec) error {
	if err := keepPrivileges(Spec{}); err != nil {
		return err
	}
	// What a launcher in a user namespace was given to mount with would otherwise pass to the program.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	for c := range uintptr(64) {
		// A program that root starts gets all capabilities of the bounding set.
		switch err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); {
		case errors.Is(err, unix.EINVAL): // there are no more
			return nil
		case errors.Is(err, unix.EPERM) && os.Geteuid() != 0: // it has none, and gets none
			return nil
		case err != nil && !errors.Is(err, unix.EPERM):
			return err
		}
	}
	return nil
}
