// Package check judges a strategy's answer against the history that it was given, and builds the new history.
//
// It is the only place that does. The host applies nothing that did not pass here, and sdktest uses it to tell authors
// in their unit tests what the host would refuse. Start at [Optimize] and [Compress] in answer.go; entry.go judges a
// single entry ([Content]), and also those from an agent.
//
// The rules, in short: every index is in bounds and used once; kept parts ascend; a call and its response are kept or
// removed together; a call that still waits for its response is kept; what a person said only loses parts, or goes in a
// Compress, and the newest of it does not change (human.go); what the model did and what tools answered only loses parts
// in any edit (model.go); pinned entries and blocks of unknown kinds are left alone. What was wrong in the input may
// stay wrong: recorded histories have such faults.
package check
