// Package full lets tests leave out cases of a property that others of the same kind prove, so that people run the
// suite. 'make test-slow', which continuous integration runs too, takes them all.
package full

import "os"

// Variable is the environment variable that asks for all cases, with any value.
const Variable = "THRESH_TEST_FULL"

// Run reports whether all cases are asked for.
func Run() bool { return os.Getenv(Variable) != "" }

// Or is all in a full run, otherwise few: how many cases there are, or how large they may be.
func Or(few, all int) int {
	if Run() {
		return all
	}
	return few
}
