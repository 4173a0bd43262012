package isolate

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Main makes the program able to be a launcher. Call it first in main: in a launcher it does not return. A launcher is
// a second start of the same program, because Go cannot run code between fork and exec, and the restrictions must apply
// to the child only.
func Main() {
	registered.Store(true)
	if len(os.Args) != 2 || os.Args[0] != launcherName {
		return
	}
	var spec Spec
	if err := json.Unmarshal([]byte(os.Args[1]), &spec); err != nil {
		os.Exit(launcherFailed)
	}
	unix.CloseOnExec(spec.Status)
	failure := become(spec)
	text, _ := json.Marshal(failure)
	_, _ = unix.Write(spec.Status, text)
	os.Exit(launcherFailed)
}

// launcherFailed is the exit status of a launcher that failed. It informs people only; the host reads the status pipe.
const launcherFailed = 125

// Command returns a command that starts a launcher for spec. The caller adds files, environment and directory.
// /proc/self/exe is the running program even if its file was replaced.
func Command(spec Spec) (*exec.Cmd, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{Path: "/proc/self/exe", Args: []string{launcherName, string(text)}}, nil
}

// become takes the measures and then becomes the program with exec. It returns only if something failed.
func become(spec Spec) *Failure {
	// All of it concerns one thread, and the program inherits it from the one that starts it.
	runtime.LockOSThread()
	if spec.Binary > 0 && !spec.KeepBinary {
		unix.CloseOnExec(spec.Binary)
	}
	// The order matters: the filter of system calls comes last, as it may forbid what the others need.
	steps := map[Measure]func(Spec) error{
		Limits: setLimits, Memory: limitMemory, Files: limitFiles, Privileges: dropPrivileges, Network: filterCalls,
		Processes: filterCalls,
	}
	wanted := make(map[Measure]bool)
	for _, m := range spec.Apply {
		wanted[m] = true
	}
	if wanted[Files] || wanted[Network] || wanted[Processes] { // without root, they need it
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return newFailure(string(Privileges), err)
		}
	}
	for _, m := range []Measure{Limits, Memory, Files, Privileges, Network, Processes} {
		if !wanted[m] || m == Processes && wanted[Network] { // one filter does both
			continue
		}
		if err := steps[m](spec); err != nil {
			return newFailure(string(m), err)
		}
	}
	return newFailure(stepExec, syscall.Exec(spec.Path, spec.Args, os.Environ()))
}

// setLimits bounds open files, the size of a written file (1 GiB) and core dumps (none: they could contain
// conversation).
func setLimits(Spec) error {
	var errs []error
	for resource, most := range map[int]uint64{
		unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 1024, unix.RLIMIT_FSIZE: 1 << 30,
	} {
		errs = append(errs, limit(resource, most))
	}
	return errors.Join(errs...)
}

// limitMemory bounds the memory that the program can write to. The size of its address space would be the wrong
// measure: runtimes reserve far more than they use.
func limitMemory(spec Spec) error {
	if spec.MaxMemory == 0 {
		return nil
	}
	return limit(unix.RLIMIT_DATA, spec.MaxMemory)
}

// limit lowers a resource limit for good; it never raises one.
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
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
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
