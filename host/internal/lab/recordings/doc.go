// Package recordings finds the sessions that agents keep on this machine.
//
// It is for the commands that take recorded sessions, so a person need not know where an agent keeps its own.
// Start at [Find]; [Walk] is for a directory or a database that a person names. Both only list sessions: [Read] reads
// one, and puts it together where an agent keeps it in many files or in a database; what is in it, package transcript
// finds out. [Find] looks into the beginning of a file only to tell which project it is about. Nothing is written, and
// nothing leaves the machine.
//
// read.go puts sessions together from files, database.go and opencode.go from databases. agents.go is the list of agents
// and their places; it is data, and the one place to change when an agent moves.
package recordings
