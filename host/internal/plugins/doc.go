// Package plugins finds strategy plugins, runs each in a process of its own, and calls them.
//
// It is for package window and the command line. A program that embeds thresh uses package host instead, and the
// author of a strategy uses package sdk.
//
// # Where to start
//
// [New] makes a [Manager] from [Options]: the settings under "plugins", and what the host adds. [Manager.Strategy]
// starts a strategy by name, once for all sessions, and returns a [Strategy], which implements prepare.Strategy.
// [Manager.List] describes every plugin file and what is wrong with it, [Manager.Lock] writes the lock file, and
// [Manager.Close] ends every process. What goes wrong comes back as an [*Error] around one of the errors in names.go.
//
// # The rooms
//
// The Manager only puts these packages together. Imports point downwards:
//
//	supervise   keeps a strategy available: restarts after crashes, quarantine, new versions of the file
//	client      speaks the protocol with one process: GetInfo, Configure, calls, host services
//	process     runs one binary as one process: start, handshake, sandbox, output, exit
//	trust       decides which files may be run: owners and modes, lock file
//	discover    finds files, opens and hashes them, reports changes
//	isolate     the launcher that takes rights away from a process before it becomes the plugin
//	fault       the errors
//
// A start goes through them in this order: discover finds the file; trust refuses it if others could change it, or if
// the lock file has another hash; process starts the file that was hashed, in a sandbox; client asks it what it is and
// configures it; supervise hands it to the waiting calls.
package plugins
