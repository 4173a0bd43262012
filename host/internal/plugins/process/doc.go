// Package process runs one plugin binary as one operating system process, from its start to its end.
//
// It is for package client, which speaks the strategy protocol over a process's connection, and for the conformance
// suite (lab/verify), which looks at the processes themselves. Start at [NewSpawner], then [Spawner.Start], which
// returns a [Process] that has completed go-plugin's handshake. [Process.Close] ends it.
//
// sandbox.go is not in package isolate because that must import next to nothing: it runs before the rest of the program
// is initialised.
//
// go-plugin negotiates and connects, but never starts, watches or ends a process: its own ways of doing so can block
// for ever, share the host's standard input and environment, and leave processes behind. So each process here
//   - is isolated as far as the machine can do that;
//   - gets a clean environment, no standard input, a private working directory, and its own process group;
//   - is ended with SIGTERM, then SIGKILL to the whole group, within a bounded time whatever it does;
//   - ends with the host: it holds the reading end of a pipe, the lifeline, that breaks then, and on Linux a
//     watcher process kills it as well;
//   - may write what it likes to its standard output and error: both are always drained, and end up in the log.
//
// Nothing here knows the strategy protocol.
package process
