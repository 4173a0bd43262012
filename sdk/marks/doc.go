// Package marks has the sentences that a history has where something was left out, for strategies and the host alike:
// how they are written, read back, and what they claim. docs/strategies-in-depth.md lists them.
//
// marks.go has the marks for omitted lines, reference.go those that also say which earlier result has the lines:
// [Resolve] makes the exact lines again. results.go names results as a reference does. recalled.go has the line before
// what a model read again. gone.go has the line for messages that are gone. own.go says which lines of an entry are
// marks: the host has recorded that. What merely reads like one is text.
package marks
