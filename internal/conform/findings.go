package conform

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/text"
)

// Finding is one thing that is wrong with a strategy.
type Finding struct {
	// Rule is the code of the rule that was broken, or the name of the check; "" while neither is known.
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

func (f Finding) placed() string {
	if place := f.Place(); place != "" {
		return place + ": " + f.Problem
	}
	return f.Problem
}

// String is all of it on one line.
func (f Finding) String() string {
	said := f.placed()
	if f.Do != "" {
		said += "; " + f.Do
	}
	if f.Rule != "" {
		said += " [" + f.Rule + "]"
	}
	var quotes []string
	if f.Was != "" {
		quotes = append(quotes, fmt.Sprintf("was %q", f.Was))
	}
	if f.Came != "" {
		quotes = append(quotes, fmt.Sprintf("came %q", f.Came))
	}
	if len(quotes) > 0 {
		said += ": " + strings.Join(quotes, ", ")
	}
	return said
}

// MaxFindings is how many findings are reported together.
const MaxFindings = 10

// Findings are what is wrong with one answer, or what a check found: an error, if there are any. Where there are more
// than [MaxFindings], the rest is counted.
type Findings struct {
	All  []Finding
	More int
}

func (f *Findings) Error() string {
	if len(f.All) == 0 {
		return "nothing is wrong"
	}
	said := f.All[0].placed()
	if n := len(f.All) + f.More; n > 1 {
		said += fmt.Sprintf(" (and %d more)", n-1)
	}
	return said
}

// Err returns f, or nil if there are none.
func (f *Findings) Err() error {
	if len(f.All) == 0 {
		return nil
	}
	return f
}

// full reports whether there is no room for more: a check may end.
func (f *Findings) full() bool { return len(f.All) == MaxFindings }

// put takes in a finding. A rule of which there is none yet takes the place of the last finding of a rule with several.
func (f *Findings) put(x Finding) {
	if !f.full() {
		f.All = append(f.All, x)
		return
	}
	f.More++
	several := map[string]int{}
	for _, y := range f.All {
		several[y.Rule]++
	}
	for i := len(f.All) - 1; i >= 0 && several[x.Rule] == 0; i-- {
		if several[f.All[i].Rule] > 1 {
			f.All[i] = x
			return
		}
	}
}

// Add takes in an error about the answer to a history; "" for none in particular. nil is none.
func (f *Findings) Add(history string, err error) {
	var several interface{ Unwrap() []error }
	var found *Findings
	var one *check.Error
	var rest check.More
	var rule *check.Rule
	x := Finding{History: history}
	switch {
	case err == nil:
	case errors.As(err, &found):
		f.More += found.More
		for _, x := range found.All {
			x.History = cmp.Or(x.History, history)
			f.put(x)
		}
	// First: its parts have more to say.
	case errors.As(err, &several) && !slices.ContainsFunc(several.Unwrap(), other):
		for _, e := range several.Unwrap() {
			f.Add(history, e)
		}
	case errors.As(err, &rest):
		f.More += int(rest)
	case errors.As(err, &one):
		f.Judged(history, one)
	case errors.As(err, &rule):
		x.Rule, x.Problem, x.Do = rule.Code, line(err), rule.Do
		f.put(x)
	case strings.Contains(err.Error(), inPlace):
		x.Rule, x.Problem, x.Do = ErrInputChanged.Code, line(err), ErrInputChanged.Do
		f.put(x)
	case panicked(err):
		x.Rule, x.Problem, x.Do = ErrPanic.Code, line(err), ErrPanic.Do
		f.put(x)
	default:
		x.Problem = line(err)
		f.put(x)
	}
}

// other reports whether an error is none of several problems, but a sentinel or a cause: fmt.Errorf joins two, too.
func other(err error) bool {
	return !errors.As(err, new(*check.Error)) && !errors.As(err, new(check.More))
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

// again takes in what is wrong with the answer to what an answer made of a history.
func (f *Findings) again(history string, err error) {
	var found Findings
	found.Add(history, err)
	for i := range found.All {
		found.All[i].Problem = "run on its own result: " + found.All[i].Problem
	}
	f.Add(history, found.Err())
}

// inPlace is in what the SDK says of a strategy that writes to its input.
const inPlace = " in place"

// panicked reports whether a strategy's error is a panic that was recovered from. The protocol has no code for it:
// this is the SDK's text. Plugins without the SDK simply crash.
func panicked(err error) bool {
	return errors.Is(err, ErrPanic) || strings.Contains(err.Error(), "panic in ")
}

// wrong reports whether an error says that an answer is wrong, or that there was a panic instead, and not that the
// strategy failed.
func wrong(err error) bool {
	return errors.As(err, new(*Findings)) || errors.As(err, new(*check.Error)) || panicked(err)
}

// line is an error as one line that is safe for a terminal.
func line(err error) string { return text.OneLine(err.Error(), 2000) }
