// Package mutants has strategies that are each wrong in one way, and one that is right. 'thresh plugins verify' has to
// find each of them, and so has package sdktest: a test there and a test here go through [All].
//
// mutants.go is the list. honest.go is the strategy of which each mutant is a copy with one fault, and faults.go has the
// faults that are more than a line.
package mutants
