// Package store keeps sessions beyond the life of a process: their logs, large contents, leases, and the access tokens
// that sessions belong to.
//
// It is for package engine, which decides what a session writes; to a store, records are opaque bytes. Start at
// [Store]. store.go has the interface and its values, errors.go what can go wrong, memory.go the store of a process
// that keeps nothing. The packages sqlite and postgres implement it on disk, package backends opens the one that a
// setting names, and package storetest is the list of behaviours that all of them are tested with.
//
// # A session is a log
//
// Records are appended and never changed. Each has a sequence number, from 1 on without gaps; the number of the last
// one is the session's revision. (That is a position in the log. The revision of a history, which agents see, counts
// something else.) A reader that has seen revision N needs the records after N, and nothing before them can have
// changed. A snapshot is a record as any other, only that [Head] knows the last one.
//
// # Who may write
//
// An append names the revision and the fence that its writer has seen. If either has moved on, nothing is written and
// the writer gets a [ConflictError]: it reads the tail and decides again. That alone makes concurrent hosts safe. The
// fence is drawn at random when a session is created, so that a writer of a deleted session cannot write to a new one
// of the same name, and grows when the lease changes hands, so that the last holder's view is out of date at once.
//
// The lease only keeps two hosts from doing the same expensive work. It ends by the store's clock, never by a host's.
// A holder names itself in [Position.Holder]; its append is refused once its lease has ended, also if no other host has
// taken it.
package store
