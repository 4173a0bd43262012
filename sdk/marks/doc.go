// Package marks has the sentences that stand in a history where something was left out, for strategies and the host
// alike: how they are written, how they are read back, and what they claim. docs/writing-a-strategy.md lists them.
//
// marks.go has the marks of lines that are gone. reference.go has those that say where the lines stand instead: in an
// earlier result. Such a mark is exact: [Resolve] makes the lines of it again. results.go names results as a reference
// does.
package marks
