package check

import (
	"errors"
	"fmt"
)

// problems are what is wrong with one answer. It is no error itself. A nil problems turned into an error would not be
// nil.
type problems []*Error

// mostProblems bounds what is reported: an answer may be wrong in a million places. The first ten are enough to see the
// mistake, and messages with all of them would fill logs.
const mostProblems = 10

// All are kept until the end, also those beyond the bound: the message says how many there are.
func (p *problems) add(e *Error) { *p = append(*p, e) }

// err joins the problems; nil if there are none.
func (p problems) err() error {
	var all []error
	for i, e := range p {
		if i == mostProblems {
			all = append(all, fmt.Errorf("and %d more", len(p)-mostProblems))
			break
		}
		all = append(all, e)
	}
	return errors.Join(all...)
}
