// Package journal is what sessions write and what is read of them again. It is for package window, which gives each
// session a [Journal], and for whoever reads a store without a host: the doors, the lab and the commands.
//
// Start at [Keeper] and [Journal]. How the files relate:
//
//	journal.go    a Journal: its parts, its port to the session, opening and closing
//	append.go     entries come in, to the store, the history and the transcript log, in the same order
//	write.go      all else that is written: rewrites, changes, what a turn has learned
//	state.go      what a session remembers, as records
//	replay.go     a session is read from its store, and what other hosts have written to it
//	fork.go       a session begins with the log of another
//	lease.go      no two hosts compress a session at the same time
//	once.go       additions that take place once; own.go: which additions were this host's
//	idle.go       a Keeper releases sessions that are not in use from memory; they wake when they are used
//	reader.go     the records of a session, decoded: [Read], [Check]
//	events.go     what became of entries; find.go, originals.go: entries as they were added
//	search.go     passages of what was recorded; index.go: their index; past.go: passages of a recording
//
// The records themselves are in package sessionlog below.
package journal
