// Package process runs one plugin binary as one operating system process, from its start to its end.
//
// It is for package client, which speaks the strategy protocol over a process's connection, and for the conformance
// suite (lab/verify), which looks at the processes themselves. Start at [NewSpawner], then [Spawner.Start], which
// returns a [Process] that has completed go-plugin's handshake. [Process.Close] ends it.
//
//   - spawner.go holds what the processes of one host share; starter.go is a part of it.
//   - process.go is the Process; connect.go does go-plugin's handshake; attach.go uses a process that a developer
//     started.
//   - child.go starts, watches and kills the operating system's process; runner.go presents it to go-plugin.
//   - sandbox.go decides which measures of isolation to take, and starts the binary by way of package isolate's
//     launcher. It is not in package isolate because that must import next to nothing: it runs before the rest of the
//     program is initialised.
//   - stdout.go finds the handshake line; stderr.go keeps and logs what a plugin writes to its standard error.
//   - start_failed.go and hints.go turn a failed start into an error that says what to do.
//
// go-plugin negotiates and connects, but is never asked to start, watch or end a process. Its own ways of doing so
// can block for ever, share the host's standard input and environment, and leave processes behind. So each process
// here
//   - is isolated as far as the machine can do that;
//   - gets a clean environment, no standard input, a private working directory, and a process group of its own;
//   - is ended with SIGTERM, then SIGKILL to the whole group, within a bounded time whatever it does;
//   - ends when the host ends: it holds the reading end of a pipe, the lifeline, that breaks then, and on Linux the
//     kernel kills it as well;
//   - may write what it likes to its standard output and error: both are always drained, and end up in the log.
//
// Nothing here knows the strategy protocol.
package process
