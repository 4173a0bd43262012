package check

import (
	"errors"
	"fmt"
)

// problems are what is wrong with one answer.
type problems []*Error

// mostProblems bounds what is reported: an answer may be wrong in a million places.
const mostProblems = 10

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
