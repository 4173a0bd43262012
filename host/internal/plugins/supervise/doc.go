// Package supervise keeps strategies available: it starts a plugin when it is needed, restarts it after a crash,
// moves calls to a new version of its file, and stops starting one that crashes too often.
//
// It is for package plugins. Start at [New], which makes a [Strategy]; a session calls [Strategy.Optimize] and
// [Strategy.Compress]. How a process is started is not decided here: [Host.Start] does it.
//
// Each Strategy has one goroutine, the owner, that owns its state and executes commands one by one, so that events
// are serialised: a crash, a call, a stop and a new version of the file never interleave. None of its methods blocks;
// what takes time runs in a goroutine that sends its result back as a command.
//
//   - state.go has the states of a plugin and a picture of them.
//   - strategy.go is the side of the callers; owner.go the owner's loop and how it grants processes.
//   - owner_process.go starts, adopts and ends processes; reload.go replaces one by a new version.
//   - instance.go counts the calls that use a process, so that it ends when the last is done.
//   - crashes.go decides about the delay after a crash and about quarantine.
package supervise
