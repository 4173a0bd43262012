// Package full has what tests leave out with -short, as in 'make test': cases of a property that others of the same kind
// prove.
package full

import "testing"

// Or is few with -short, otherwise all: how many cases there are, or how large they may be.
func Or(few, all int) int {
	if testing.Short() {
		return few
	}
	return all
}
