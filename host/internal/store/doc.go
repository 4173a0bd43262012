// Package store keeps sessions beyond the life of a process: their logs, large contents, leases, and the access tokens
// that sessions belong to.
//
// It is for package window, which decides what a session writes; to a store, records are opaque bytes. Start at
// [Store]. Packages sqlite and postgres implement it on disk, package backends opens the one that a setting names, and
// package storetest tests all of them.
//
// # A session is a log
//
// Records are appended and never changed. Each has a sequence number, from 1 without gaps; the last one's number is the
// session's revision. (The revision of a history, which agents see, counts something else.) A reader that has seen
// revision N needs only the records after N.
//
// # Who may write
//
// An append names the revision and the fence that its writer has seen. If either has moved on, nothing is written and
// the writer gets a [ConflictError]: it reads the tail and decides again. That alone makes concurrent hosts safe. The
// fence is drawn at random when a session is created, so a writer of a deleted session cannot write to a new one of the
// same name, and grows when the lease changes hands.
//
// The lease only keeps two hosts from doing the same expensive work. It ends by the store's clock, never by a host's.
// An append that names a [Position.Holder] is refused once that holder's lease has ended, even if no other host has
// taken it.
package store
