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
// # How a process is run
//
// The life of a process is in four files: discover.go finds the binary, child.go runs it, launch.go brings it from the
// handshake to ready (GetInfo, then Configure), and process.go ends it. go-plugin negotiates and connects, but is never
// asked to start, watch or end a process: its own ways of doing so can block for ever, share the host's standard input
// and environment, and leave processes behind. So a child
//   - gets a clean environment, no standard input, a private working directory, a process group of its own;
//   - is ended with SIGTERM, then SIGKILL to the whole group, within a bounded time whatever it does;
//   - goes when the host goes: it holds the reading end of a pipe that breaks, and on Linux the kernel kills it as well;
//   - may write what it likes to its standard output and error: both are always drained, and end in the log.
//
// What a strategy answers is decoded and bounded here, and otherwise not judged: package history does that before it
// applies anything.
package plugins
