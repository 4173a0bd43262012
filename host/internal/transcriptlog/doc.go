// Package transcriptlog writes the transcript log of a session: a file that holds every entry ever added, in the
// order in which the entries arrived, as JSON lines in the native form.
//
// It is for package engine and for commands that read such files; the setting transcript.dir turns it on. Nothing
// that a strategy does later is in the file, so replaying it reproduces the original history (REQ-HD-012). Each line
// begins with the id that the entry has in its session's history, so that the original of an entry can be found after
// a strategy removed it. Each change of the system prompt is a line of its own, without id.
//
// Start at [Open], which creates the file of a session and returns its [Log]. line.go defines one line of the file,
// [Find] reads an entry back from a file, and [Index] finds entries of a transcript by id.
package transcriptlog
