// Package transcriptlog writes a session's transcript log: every entry ever added, in order, as JSON lines in the
// native form.
//
// It is for package window and for commands that read such files; the setting transcript.dir turns it on. Nothing that
// a strategy does is in the file, so replaying it reproduces the original history. Each line begins with
// the entry's id in its session's history, to find the original of an entry that a strategy removed. Each change of the
// system prompt is a line of its own, without id.
//
// Start at [Open], which creates a session's file and returns its [Log]. line.go defines a line; [Find] reads an entry
// from a file.
package transcriptlog
