// Package check judges what a strategy answered against the history that it was given, and builds the new history.
//
// It is the only place that does. The host applies nothing that did not pass here, and sdktest uses it to tell authors
// in their unit tests what the host would refuse. Nothing in it depends on processes, gRPC or protobuf.
//
// Start at [Optimize] and [Compress] in answer.go. They judge and build in one walk, because both need the same one.
// pairs.go compares which response answers which call before and after; entry.go judges a single entry ([Content]) and
// also serves entries that come from an agent. errors.go lists what can be wrong; problems.go collects several of them,
// so that an author sees them all at once.
//
// The rules, in short: every index is in bounds and used once; kept parts ascend; a call and its response stay or go
// together; a call that still waits for its response stays; in an Optimize, what a person said only loses parts, and
// the newest of it does not change (human.go says precisely what an edit may be); what the model did and what tools
// answered only loses parts in any edit (model.go); pinned entries and blocks of unknown kinds are left alone. What was wrong in the input may stay wrong: recorded histories come with such faults.
package check
