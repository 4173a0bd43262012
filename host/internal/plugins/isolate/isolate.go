package isolate

import (
	"os"
	"slices"
	"sync/atomic"
	"syscall"
)

// Measure is one kind of isolation. The names occur in -o json output and in the launcher's input.
type Measure string

const (
	// No new ones through setuid programs, and no capabilities for root.
	Privileges Measure = "privileges"
	// None but its binary, its run directory and, read-only, the system's programs and libraries.
	Files Measure = "files"
	// No sockets except Unix sockets in the file system, which go-plugin needs.
	Network Measure = "network"
	// It cannot start others; threads are allowed.
	Processes Measure = "processes"
	// None to processes outside, and no abstract Unix sockets, which the file system does not protect. See
	// [SignalsByFilter].
	Signals Measure = "signals"
	// A hard limit on private memory. No limit that works without root counts other memory; most of it is refused.
	Memory Measure = "memory"
	// No system calls but those of an allow list, some of these on the process itself only.
	Calls Measure = "calls"
	// None that the host's own parent left open.
	Descriptors Measure = "descriptors"
	// Dead with the host, however that ended.
	Ending Measure = "ending"
	// None but those in its run directory, which nothing outside can reach. Without Paths, the host makes its sockets
	// for it; see [Guard].
	Sockets Measure = "sockets"
	// It does not even see which files there are outside.
	Paths Measure = "paths"
	// A bound on what it keeps in its run directory, in bytes and files.
	Disk    Measure = "disk"
	Threads Measure = "threads"
	// Open files, the size of a written file, no core dumps.
	Limits Measure = "limits"
)

// measures are in the order in which they are shown.
var measures = []Measure{
	Privileges, Files, Paths, Network, Sockets, Processes, Calls, Signals, Ending, Descriptors, Memory, Disk, Threads,
	Limits,
}

// Bounds for the measures Disk and Threads. Where the kernel cannot keep them, the host has to look at the program from
// time to time.
const (
	// MaxDisk is in bytes.
	MaxDisk = 256 << 20
	// MaxFiles counts files and directories in the run directory.
	MaxFiles = 16 << 10
	// MaxThreads allows for runtimes that start some threads for each processor.
	MaxThreads = 512
)

// HostDir is the read-only directory within a program's run directory where, if [OwnDisk] holds, it finds what the host
// puts there.
const HostDir = "h"

type Check struct {
	Measure Measure `json:"measure"`
	Works   bool    `json:"works"`
	// How is the mechanism that enforces it, or why nothing does.
	How string `json:"how"`
}

// SignalsByFilter is how [Signals] is enforced where Landlock does not know it. The filter guards signals alone, and
// [Sockets] the rest: it does not keep a program with a grant for the network from abstract sockets, nor, outside of a
// process namespace, one that may start processes from signalling any.
const SignalsByFilter = "a filter of system calls (seccomp), and what enforces sockets"

// Spec tells a launcher what to do. It travels as JSON over a socket. The form may change with every version: launcher
// and host are the same program.
type Spec struct {
	// Args are the program's arguments, from its name on; Env is its whole environment.
	Args []string `json:"args"`
	Env  []string `json:"env"`
	// KeepBinary leaves the descriptor of the program's file open in it: a script's interpreter opens that.
	KeepBinary bool `json:"keepBinary"`
	// RunDir is the program's working directory, the only one it may write to. If [OwnDisk] holds for Apply, the
	// program finds there its own file system, which ends with it; see [HostDir].
	RunDir string `json:"runDir"`
	// Network allows the network, Processes starting other programs.
	Network   bool `json:"network"`
	Processes bool `json:"processes"`
	// Read holds absolute paths of files and directories that it may read and run programs from. Each must exist.
	Read []string `json:"read"`
	// Trial makes the launcher end where it would become the program.
	Trial bool `json:"trial,omitempty"`
	// MaxMemory is in bytes; 0 is no limit.
	MaxMemory uint64 `json:"maxMemory"`
	// OwnUser is set by [Launcher.Become] if the program has its own user namespace.
	OwnUser bool `json:"ownUser"`
	// Apply are the measures to take. A launcher that cannot take one of them fails.
	Apply []Measure `json:"apply"`
}

// OwnDisk reports whether a program under these measures has its own file system in its run directory.
func OwnDisk(apply []Measure) bool {
	return slices.Contains(apply, Paths) && slices.Contains(apply, Disk)
}

// Handles are the open files that become the program's descriptors from 1 on. Standard input is /dev/null.
type Handles struct {
	Stdout, Stderr *os.File
	// Lifeline ends when the host does. The program finds it as [LifelineFD].
	Lifeline *os.File
	Binary   *os.File
}

const LifelineFD = 3

// Launcher is how to start a launcher, and the host's end of a socket to it. Start Path, Args and Attr with an empty
// environment and Inherit as descriptors from 3 on. [Launcher.Become] says later what it becomes, so it can be started
// before that is known. Close it in any case; an unused launcher then ends.
type Launcher struct {
	Path    string
	Args    []string
	Attr    *syscall.SysProcAttr // never nil without an error; more may be added
	Inherit []*os.File

	// host is this process's end of the socket; theirs is the launcher's, closed here once it has started.
	host, theirs *os.File
	flags        uintptr // its namespaces
	group        *Group  // nil: the host's
}

const launcherName = "thresh-plugin-launcher"

// registered is set by Main. It is global because it is about the running program: one whose main does not call Main
// would start itself as a second host instead of a launcher.
var registered atomic.Bool

func Registered() bool { return registered.Load() }

// Failure is why a launcher did not become the program. It travels as JSON over its socket.
type Failure struct {
	// Step is a measure, or "exec".
	Step string `json:"step"`
	// Errno is the system's error number; 0 if there is none.
	Errno uintptr `json:"errno"`
	Text  string  `json:"text"`
}
