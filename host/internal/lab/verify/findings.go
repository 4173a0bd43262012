package verify

import (
	"errors"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
)

// Finding is one thing that is wrong with a plugin.
type Finding struct {
	// Rule is the code of the rule that was broken, or the name of the check.
	Rule string `json:"rule"`
	// History is the history it was found in; "" if it was found without one.
	History string `json:"history,omitempty"`
	// Entry is a position in that history, from 0, or in the answer if New; nil for none.
	Entry *int `json:"entry,omitempty"`
	New   bool `json:"new,omitempty"`
	// Problem says what is wrong, on one line. Was and Came are what stood there and what the answer has instead, Do is
	// what the author should do; each may be "".
	Problem string `json:"problem"`
	Was     string `json:"was,omitempty"`
	Came    string `json:"came,omitempty"`
	Do      string `json:"do,omitempty"`
}

// Place says where it was found; "" for nowhere in particular.
func (f Finding) Place() string {
	var parts []string
	if f.History != "" {
		parts = append(parts, fmt.Sprintf("history %q", f.History))
	}
	if f.Entry != nil && f.New {
		parts = append(parts, fmt.Sprintf("entry %d of the answer", *f.Entry))
	} else if f.Entry != nil {
		parts = append(parts, fmt.Sprintf("entry %d", *f.Entry))
	}
	return strings.Join(parts, ", ")
}

// maxFindings is how many findings a check reports.
const maxFindings = 10

// findings are what a check found. It is the error of the check.
type findings struct {
	all  []Finding
	more int // that were found and are not in all
}

func (f *findings) Error() string {
	if len(f.all) == 0 {
		return "nothing is wrong"
	}
	first := f.all[0]
	said := first.Problem
	if place := first.Place(); place != "" {
		said = place + ": " + said
	}
	if n := len(f.all) + f.more; n > 1 {
		said += fmt.Sprintf(" (and %d more)", n-1)
	}
	return said
}

func (f *findings) err() error {
	if len(f.all) == 0 {
		return nil
	}
	return f
}

// full reports whether there is no room for more: a check may end.
func (f *findings) full() bool { return len(f.all) == maxFindings }

// put takes in a finding. A rule of which there is none yet takes the place of the last finding of a rule with several.
func (f *findings) put(x Finding) {
	if !f.full() {
		f.all = append(f.all, x)
		return
	}
	f.more++
	several := map[string]int{}
	for _, y := range f.all {
		several[y.Rule]++
	}
	for i := len(f.all) - 1; i >= 0 && several[x.Rule] == 0; i-- {
		if several[f.all[i].Rule] > 1 {
			f.all[i] = x
			return
		}
	}
}

// add takes in what is wrong with the answer to a history.
func (f *findings) add(history string, err error) {
	var several interface{ Unwrap() []error }
	var one *check.Error
	var rest check.More
	var rule *check.Rule
	switch {
	case err == nil:
	// First: its parts have more to say.
	case errors.As(err, &several) && !onlyPrefixed(several):
		for _, e := range several.Unwrap() {
			f.add(history, e)
		}
	case errors.As(err, &rest):
		f.more += int(rest)
	case errors.As(err, &one):
		f.judged(history, one)
	case errors.As(err, &rule):
		f.put(Finding{Rule: rule.Code, History: history, Problem: sentence(err), Do: rule.Do})
	case strings.Contains(err.Error(), " in place"): // what the SDK says of a strategy that writes to its input
		f.put(Finding{Rule: conform.ErrInputChanged.Code, History: history, Problem: sentence(err), Do: conform.ErrInputChanged.Do})
	case panicked(err):
		f.put(Finding{Rule: conform.ErrPanic.Code, History: history, Problem: sentence(err), Do: conform.ErrPanic.Do})
	default:
		f.put(Finding{History: history, Problem: sentence(err)})
	}
}

// onlyPrefixed reports whether an error wraps a sentinel and a cause, as fmt.Errorf does with two verbs, rather than
// joining several problems.
func onlyPrefixed(several interface{ Unwrap() []error }) bool {
	for _, e := range several.Unwrap() {
		var one *check.Error
		if !errors.As(e, &one) && !errors.As(e, new(check.More)) {
			return true
		}
	}
	return false
}

// judged takes in problems with the answer to a history.
func (f *findings) judged(history string, all ...*check.Error) {
	for _, e := range all {
		x := Finding{Rule: e.Err.Code, History: history, New: e.New, Problem: e.Err.Broken, Was: e.Was, Came: e.Came,
			Do: e.Err.Do}
		if e.Index >= 0 {
			x.Entry = new(e.Index)
		}
		if e.Detail != "" {
			x.Problem += " (" + e.Detail + ")"
		}
		f.put(x)
	}
}
