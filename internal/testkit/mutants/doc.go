// Package mutants has strategies that are each wrong in one way, and one that is right. A test of package conform goes
// through [All], and demands that each is found. 'thresh plugins verify' and package sdktest try some of them, to show
// that nothing is lost on the way to a process or a Go value.
//
// mutants.go is the list. honest.go is the strategy of which each mutant is a copy with one fault, and faults.go has the
// faults that are more than a line.
package mutants
