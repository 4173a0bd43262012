// Package transcriptlog keeps the whole conversation of a session on disk: every entry that was ever added, in the order in which
// it came, as native JSONL. What strategies make of the history later is not in it, so that replaying the file gives the
// original history back (REQ-HD-012). Each line begins with the entry's id in the session's history, by which an entry
// that a strategy removed is found again.
//
// It is the host's own; the setting transcript.dir turns it on. Start at [Open].
package transcriptlog
