package isolate

import (
	"sync/atomic"
)

// Measure is one thing that a program is kept from.
type Measure string

// The measures.
const (
	// Privileges: no new ones by setuid programs, and for root no capabilities.
	Privileges Measure = "privileges"
	// Files: none but its binary, its run directory and, read-only, the system's programs and libraries.
	Files Measure = "files"
	// Network: no sockets but those of the file system.
	Network Measure = "network"
	// Processes: none but its own; threads it may have.
	Processes Measure = "processes"
	// Signals: none to processes outside, and no abstract sockets.
	Signals Measure = "signals"
	// Memory: a hard limit on what is private. Memory that is made to be shared counts for no limit that needs no root.
	Memory Measure = "memory"
	// Limits: open files, the size of a written file, no core dumps.
	Limits Measure = "limits"
)

// Check is whether this machine can enforce a measure.
type Check struct {
	Measure Measure `json:"measure"`
	Works   bool    `json:"works"`
	// How is by what means, or why not.
	How string `json:"how"`
}

// Spec is what a launcher is to do. It goes to it as JSON.
type Spec struct {
	// Path is the program; Binary is the descriptor in the launcher that it leads to, to be closed when the program begins
	// unless KeepBinary. 0: none.
	Path       string   `json:"path"`
	Args       []string `json:"args"`
	Binary     int      `json:"binary"`
	KeepBinary bool     `json:"keepBinary"`
	// Status is the descriptor in the launcher to which it writes why it failed; it is closed when the program begins.
	Status int `json:"status"`
	// RunDir is the directory that the program may write to.
	RunDir string `json:"runDir"`
	// Network lets the program use the network, Processes start others.
	Network   bool `json:"network"`
	Processes bool `json:"processes"`
	// Read are absolute paths of files and directories that it may read and run programs from. Each must be there.
	Read []string `json:"read"`
	// MaxMemory is in bytes; 0 is no limit.
	MaxMemory uint64 `json:"maxMemory"`
	// Apply are the measures to take. A launcher that cannot take one of them fails.
	Apply []Measure `json:"apply"`
}

// launcherName is a launcher's first argument, where programs have their name.
const launcherName = "thresh-plugin-launcher"

// registered is a fact about the running program and so a variable of it: its main function calls Main.
var registered atomic.Bool

// Registered reports whether the program can be its own launcher: it called [Main].
func Registered() bool { return registered.Load() }

// Failure is why a launcher did not become the program.
type Failure struct {
	// Step is what failed: a measure, or "exec".
	Step string `json:"step"`
	// Errno is the system's number for it, 0 if there is none.
	Errno uintptr `json:"errno"`
	Text  string  `json:"text"`
}
