// Package plugins finds strategy plugins, runs each in a process of its own, and calls them.
//
// It is for package host and the command line; a program that embeds thresh uses package host instead, and an author of
// a strategy uses package sdk.
//
// # Where to start
//
// [New] makes a [Manager] over a list of directories. [Manager.Strategy] starts a strategy by name, once for all sessions;
// [Strategy.Optimize] and [Strategy.Compress] call it. [Manager.List] says what is there and what is wrong with it, and
// [Manager.Close] ends every process. What goes wrong comes back as an [*Error] around one of the sentinels of this package.
//
// # Supervision
//
// A [Strategy] has one goroutine that owns its state (owner.go, owner_process.go; state.go has the picture): it starts
// processes, counts crashes (crashes.go), hands processes to calls, and moves calls to a new version of the file (watch.go,
// reload.go).
//
// # Which files are run
//
// discover.go finds the file; guard.go refuses it if others could change it; integrity.go compares its hash with the lock
// file (ledger.go); and what is run is the opened file that was hashed, not what stands under its name by then (binary.go).
// Plugins that came with the host, in the folder plugins beside its executable and of the same owner, need no lock file: who
// can change them can change the host. A script is run under the name /proc/self/fd/4, so that $0 does not lead to its
// neighbours: a strategy is one file.
//
// # How a process is run
//
// child.go runs the binary, launch.go brings it from the handshake to ready (GetInfo, then Configure), and process.go ends
// it. go-plugin negotiates and connects, but is never asked to start, watch or end a process: its own ways of doing so can
// block for ever, share the host's standard input and environment, and leave processes behind. So a child
//   - is isolated as far as the machine can do that (isolation.go and package isolate);
//   - gets a clean environment, no standard input, a private working directory, a process group of its own;
//   - is ended with SIGTERM, then SIGKILL to the whole group, within a bounded time whatever it does;
//   - goes when the host goes: it holds the reading end of a pipe that breaks, and on Linux the kernel kills it as well;
//   - may write what it likes to its standard output and error: both are always drained, and end in the log.
//
// With [Options.Attach] a process is used that its author has started, for a debugger, and none of this holds (attach.go).
//
// What a strategy answers is decoded and bounded here, and otherwise not judged: package history does that before it
// applies anything.
package plugins
