package conform

import (
	"errors"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/text"
)

// Finding is one thing that is wrong with a strategy.
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

// String is all of it on one line.
func (f Finding) String() string {
	said := f.Problem
	if place := f.Place(); place != "" {
		said = place + ": " + said
	}
	if f.Do != "" {
		said += "; " + f.Do
	}
	said += " [" + f.Rule + "]"
	switch {
	case f.Was != "" && f.Came != "":
		said += fmt.Sprintf(": was %q, came %q", f.Was, f.Came)
	case f.Was != "":
		said += fmt.Sprintf(": was %q", f.Was)
	case f.Came != "":
		said += fmt.Sprintf(": came %q", f.Came)
	}
	return said
}

// MaxFindings is how many findings a check reports.
const MaxFindings = 10

// Findings are what a check found. It is the error of the check.
type Findings struct {
	all  []Finding
	more int // that were found and are not in all
}

func (f *Findings) Error() string {
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

// Err returns f, or nil if there are none.
func (f *Findings) Err() error {
	if len(f.all) == 0 {
		return nil
	}
	return f
}

// full reports whether there is no room for more: a check may end.
func (f *Findings) full() bool { return len(f.all) == MaxFindings }

// put takes in a finding. A rule of which there is none yet takes the place of the last finding of a rule with several.
func (f *Findings) put(x Finding) {
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

// Problems are all that is wrong with one answer.
type Problems []error

func (p Problems) Error() string   { return errors.Join(p...).Error() }
func (p Problems) Unwrap() []error { return p }

func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// Broken adds that the answer breaks a rule, at an entry or (-1) as a whole.
func (p *Problems) Broken(rule *check.Rule, entry int, detail string) {
	*p = append(*p, &check.Error{Index: entry, Err: rule, Detail: detail})
}

// Judged adds what rules say of the answer.
func (p *Problems) Judged(all []*check.Error) {
	for _, e := range all {
		*p = append(*p, e)
	}
}

// Add adds an error, if it is one: of several in one, each.
func (p *Problems) Add(err error) {
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) && !onlyPrefixed(several) {
		for _, e := range several.Unwrap() {
			p.Add(e)
		}
	} else if err != nil {
		*p = append(*p, err)
	}
}

// Add takes in what is wrong with the answer to a history.
func (f *Findings) Add(history string, err error) {
	var several interface{ Unwrap() []error }
	var one *check.Error
	var rest check.More
	var rule *check.Rule
	switch {
	case err == nil:
	// First: its parts have more to say.
	case errors.As(err, &several) && !onlyPrefixed(several):
		for _, e := range several.Unwrap() {
			f.Add(history, e)
		}
	case errors.As(err, &rest):
		f.more += int(rest)
	case errors.As(err, &one):
		f.Judged(history, one)
	case errors.As(err, &rule):
		f.put(Finding{Rule: rule.Code, History: history, Problem: line(err), Do: rule.Do})
	case strings.Contains(err.Error(), " in place"): // what the SDK says of a strategy that writes to its input
		f.put(Finding{Rule: ErrInputChanged.Code, History: history, Problem: line(err), Do: ErrInputChanged.Do})
	case panicked(err):
		f.put(Finding{Rule: ErrPanic.Code, History: history, Problem: line(err), Do: ErrPanic.Do})
	default:
		f.put(Finding{History: history, Problem: line(err)})
	}
}

// again takes in what is wrong with the answer to what an answer made of a history.
func (f *Findings) again(history string, err error) {
	var found Findings
	found.Add(history, err)
	f.more += found.more
	for _, x := range found.all {
		x.Problem = "run on its own result: " + x.Problem
		f.put(x)
	}
}

// panicked reports whether a strategy's error is a panic that was recovered from. The protocol has no code for it:
// this is the SDK's text. Plugins without the SDK simply crash.
func panicked(err error) bool {
	return errors.Is(err, ErrPanic) || strings.Contains(err.Error(), "panic in ")
}

// wrong reports whether an error says that an answer is wrong, or that there was a panic instead, and not that the
// strategy failed.
func wrong(err error) bool {
	return errors.As(err, new(Problems)) || errors.As(err, new(*check.Error)) || panicked(err)
}

// line is an error as one line that is safe for a terminal.
func line(err error) string { return text.OneLine(err.Error(), 2000) }

// onlyPrefixed reports whether an error wraps a sentinel and a cause, as fmt.Errorf does with two verbs, rather than
// joining several problems.
func onlyPrefixed(several interface{ Unwrap() []error }) bool {
	if _, ok := several.(Problems); ok {
		return false
	}
	for _, e := range several.Unwrap() {
		var one *check.Error
		if !errors.As(e, &one) && !errors.As(e, new(check.More)) {
			return true
		}
	}
	return false
}

// Judged takes in problems with the answer to a history.
func (f *Findings) Judged(history string, all ...*check.Error) {
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
