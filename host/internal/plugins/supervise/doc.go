// Package supervise keeps strategies available: it starts a plugin when it is needed, restarts it after a crash,
// moves calls to a new version of its file, and stops starting one that crashes too often.
//
// It is for package plugins. Start at [New], which makes a [Strategy]; a session calls [Strategy.Optimize] and
// [Strategy.Compress]. [Host.Start] decides how a process is started.
//
// Each Strategy has one goroutine, the owner, that owns its state and executes commands one by one: a crash, a call, a
// stop and a new version of the file never interleave. None of its methods blocks; what takes time runs in a goroutine
// that sends its result back as a command. state.go has a picture of the states.
package supervise
