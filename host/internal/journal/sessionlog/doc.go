// Package sessionlog is the form in which a session is written to a store: the records of its log, and how they become
// bytes. It is for package window. Start at [Added], [Rewritten], [State] and [Snapshot], the four kinds of records.
// wire.go has the encoding of fields, entry.go entries, contents.go what is kept apart because it is large.
//
// # What a session writes
//
// Entries are written once, as they were added or as a rewrite made them. A rewrite names what it keeps by position.
// What else a session remembers is written when it changes, in groups, so an ordinary turn writes some tens of bytes. A
// snapshot repeats no entry: it says which records have the entries of the present history.
//
// # The form of a record
//
// A record is one byte, the version of the form, and then fields as in protocol buffers. A reader skips fields that it
// does not know, and records are never rewritten, so such a field is still there for a later version. A change that a
// reader must not skip raises the version: an older program then refuses the record with [ErrNewer].
package sessionlog
