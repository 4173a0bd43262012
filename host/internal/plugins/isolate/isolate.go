package isolate

import (
	"os"
	"slices"
	"sync/atomic"
	"syscall"
)

// Measure is one kind of isolation. The names occur in -o json output and in the launcher's input.
type Measure string

// The measures.
const (
	// Privileges: no new ones through setuid programs, and no capabilities for root.
	Privileges Measure = "privileges"
	// Files: none but its binary, its run directory and, read-only, the system's programs and libraries.
	Files Measure = "files"
	// Network: no sockets except Unix sockets in the file system, which go-plugin needs.
	Network Measure = "network"
	// Processes: it cannot start others; threads are allowed.
	Processes Measure = "processes"
	// Signals: none to processes outside, and no abstract Unix sockets, which the file system does not protect. See
	// [SignalsByFilter].
	Signals Measure = "signals"
	// Memory: a hard limit on private memory. No limit that works without root counts other memory; most of it is
	// refused.
	Memory Measure = "memory"
	// Calls: no system calls but those of an allow list, and some of these on the process itself only.
	Calls Measure = "calls"
	// Descriptors: none that the host's own parent left open.
	Descriptors Measure = "descriptors"
	// Ending: dead with the host, however that ended.
	Ending Measure = "ending"
	// Sockets: none but those in its run directory, and nothing outside can reach those that it makes. Without Paths,
	// the host makes its sockets for it; see [Guard].
	Sockets Measure = "sockets"
	// Paths: it does not even see which files there are outside.
	Paths Measure = "paths"
	// Disk: a bound on what it keeps in its run directory, in bytes and files.
	Disk Measure = "disk"
	// Threads: a bound on how many it has.
	Threads Measure = "threads"
	// Limits: open files, the size of a written file, no core dumps.
	Limits Measure = "limits"
)

// measures are all of them, in the order in which they are shown.
var measures = []Measure{
	Privileges, Files, Paths, Network, Sockets, Processes, Calls, Signals, Ending, Descriptors, Memory, Disk, Threads,
	Limits,
}

// Bounds on what a program takes, for the measures Disk and Threads. Where the kernel cannot keep them, the host is to
// look at the program from time to time.
const (
	// MaxDisk is how much its run directory may hold, in bytes.
	MaxDisk = 256 << 20
	// MaxFiles is how many files and directories may be in its run directory.
	MaxFiles = 16 << 10
	// MaxThreads is how many threads it may have. Runtimes start some for each processor of the machine.
	MaxThreads = 512
)

// HostDir is the directory within a program's run directory where, if [OwnDisk] holds, it finds what the host puts into
// the run directory. It can only read it.
const HostDir = "h"

// Check reports whether this machine can enforce a measure.
type Check struct {
	Measure Measure `json:"measure"`
	Works   bool    `json:"works"`
	// How is the mechanism that enforces it, or the reason why nothing does.
	How string `json:"how"`
}

// SignalsByFilter is how [Signals] is enforced where Landlock does not know it. The filter guards signals alone, and
// [Sockets] the rest: it does not keep a program with a grant for the network from abstract sockets, nor, outside of a
// process namespace, one that may start processes from signalling any.
const SignalsByFilter = "a filter of system calls (seccomp), and what enforces sockets"

// Spec tells a launcher what to do. It travels as JSON over a socket. Its JSON form may change with every version:
// launcher and host are the same program.
type Spec struct {
	// Args and Env are the program's arguments, from its name on, and its whole environment.
	Args []string `json:"args"`
	Env  []string `json:"env"`
	// KeepBinary leaves the descriptor of the program's file open in it, as for a script that its interpreter opens.
	KeepBinary bool `json:"keepBinary"`
	// RunDir is the program's working directory, and the one that it may write to. If [OwnDisk] holds for Apply, what
	// the program finds there is not the directory itself but a file system of its own, which ends with the program;
	// see [HostDir].
	RunDir string `json:"runDir"`
	// Network allows the network, Processes allows starting other programs.
	Network   bool `json:"network"`
	Processes bool `json:"processes"`
	// Read holds absolute paths of files and directories that it may read and run programs from. Each must exist.
	Read []string `json:"read"`
	// Trial makes the launcher end where it would become the program.
	Trial bool `json:"trial,omitempty"`
	// MaxMemory is in bytes; 0 is no limit.
	MaxMemory uint64 `json:"maxMemory"`
	// OwnUser is set by [Launcher.Become] if the program has a user namespace of its own.
	OwnUser bool `json:"ownUser"`
	// Apply are the measures to take. A launcher that cannot take one of them fails.
	Apply []Measure `json:"apply"`
}

// OwnDisk reports whether a program under these measures has a file system of its own in its run directory.
func OwnDisk(apply []Measure) bool {
	return slices.Contains(apply, Paths) && slices.Contains(apply, Disk)
}

// Handles are the open files that the host gives to a program, as its descriptors from 1 on. Standard input is
// /dev/null.
type Handles struct {
	Stdout, Stderr *os.File
	// Lifeline ends when the host does. The program finds it as [LifelineFD].
	Lifeline *os.File
	// Binary is the file to run.
	Binary *os.File
}

// LifelineFD is the descriptor of the lifeline in a program: the first after the standard three.
const LifelineFD = 3

// Launcher is how to start a launcher, and the host's end of a socket to it. Path, Args and Attr are for starting it,
// with an empty environment and Inherit as its descriptors from 3 on. What it is to become is said later, with
// [Launcher.Become], so that it can be started before that is known. Close it in any case; a launcher that became
// nothing then ends.
type Launcher struct {
	Path    string
	Args    []string
	Attr    *syscall.SysProcAttr // never nil without an error; more may be added to it
	Inherit []*os.File

	// host is the end that this process keeps; theirs is the launcher's, and is closed here once it has started.
	host, theirs *os.File // both ends of the socket
	flags        uintptr  // its namespaces
	group        *Group   // nil: the host's
}

// launcherName is a launcher's argv[0]; it tells a launcher from a normal start of the program.
const launcherName = "thresh-plugin-launcher"

// registered is set by Main. It is a global because it is a fact about the running program: a program whose main does
// not call Main would start itself as a second host instead of a launcher.
var registered atomic.Bool

// Registered reports whether the program can be its own launcher: it called [Main].
func Registered() bool { return registered.Load() }

// Failure is the reason why a launcher did not become the program. It travels as JSON over its socket.
type Failure struct {
	// Step is what failed: a measure, or "exec".
	Step string `json:"step"`
	// Errno is the system's error number; 0 if there is none.
	Errno uintptr `json:"errno"`
	Text  string  `json:"text"`
}
