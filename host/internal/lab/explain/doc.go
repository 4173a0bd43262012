// Package explain says for each entry of a recorded session what became of it: that it stands, or in which turn and by
// which step and rule it was trimmed or removed, what superseded it, and what that saved.
//
// It is for the command `thresh explain` and for whoever wants the same as data. Start at [Run]; [Recorder] is for
// those who replay a session themselves, and [Describe] says in a line what an entry is.
package explain
