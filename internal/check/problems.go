package check

import (
	"errors"
	"fmt"
)

// problems are what is wrong with one answer. It is no error itself, because a nil problems as an error would not be
// nil.
type problems []*Error

// maxProblems bounds what is reported: an answer may be wrong in a million places, and messages with all of them would
// fill logs.
const maxProblems = 10

// More is how many more problems there are than are listed.
type More int

func (m More) Error() string { return fmt.Sprintf("and %d more", int(m)) }

// add keeps all, also those beyond the bound: the message says how many there are.
func (p *problems) add(e *Error) { *p = append(*p, e) }

func (p problems) err() error {
	var all []error
	for i, e := range p {
		if i == maxProblems {
			all = append(all, More(len(p)-maxProblems))
			break
		}
		all = append(all, e)
	}
	return errors.Join(all...)
}
