package sdktest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
)

// RefusedError says why the SDK or the host would refuse an answer.
type RefusedError struct {
	// Op is "Optimize" or "Compress".
	Op string
	// Problems are sentences, at least one. In brackets at its end each has the code of the rule, and behind that what
	// was and what came.
	Problems []string
}

func (e *RefusedError) Error() string {
	if len(e.Problems) == 1 {
		return "the host would refuse this " + e.Op + ": " + e.Problems[0]
	}
	return "the host would refuse this " + e.Op + ":\n\t" + strings.Join(e.Problems, "\n\t")
}

// refused is the error for what rules say of an answer; nil if they say nothing.
func refused(op string, all ...*check.Error) error {
	var found problems
	found.judged(all)
	return found.err(op)
}

// problems are sentences for the author, in the order in which they were found. It becomes an error only by err, so
// that an empty one is never a failure.
type problems []string

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

func (p *problems) addAll(err error) {
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		for _, e := range several.Unwrap() {
			p.addAll(e)
		}
		return
	}
	switch e, ok := errors.AsType[*check.Error](err); {
	case ok && e.Was != "" && e.Came != "":
		p.add("%v: was %q, came %q", err, e.Was, e.Came)
	case ok && e.Was != "":
		p.add("%v: was %q", err, e.Was)
	case ok && e.Came != "":
		p.add("%v: came %q", err, e.Came)
	case err != nil:
		p.add("%v", err)
	}
}

func (p *problems) judged(all []*check.Error) {
	for i, e := range all {
		if i == most {
			p.add("%v", check.More(len(all)-most))
			break
		}
		p.addAll(e)
	}
}

// broken adds that a rule was broken by the answer as a whole.
func (p *problems) broken(rule *check.Rule, entry int, detail string) {
	p.addAll(&check.Error{Index: entry, Err: rule, Detail: detail})
}

func (p problems) err(op string) error {
	if len(p) == 0 {
		return nil
	}
	return &RefusedError{Op: op, Problems: p}
}

// CheckDensity returns a [RefusedError] if the result of an Optimize of history would be refused: positions out of
// bounds, twice, or in both sets, an entry changed beyond its blocks, a human entry removed or
// changed beyond lines taken out of it, words, calls or results that the model and its tools did not make, a failure that
// looks like a success, signed thinking changed, a pinned entry or a block of unknown kind changed, a call or a response
// that lost its other half.
func CheckDensity(history []sdk.Content, r sdk.DensityResult) error {
	_, err := density(history, r)
	return err
}

func density(history []sdk.Content, r sdk.DensityResult) (parts []check.Part, _ error) {
	var found problems
	// What the SDK refuses before anything travels; the host's own rules come after it.
	edits, err := rewrite.Edits(history, r.Removals, r.Replacements, nil)
	if err == nil {
		parts, err = check.Optimize(history, edits)
	}
	found.addAll(err)
	return parts, found.err("Optimize")
}

// recorded returns a new history as the host keeps it: its metadata says which lines are marks.
func recorded(after []sdk.Content, parts []check.Part) []sdk.Content {
	if len(parts) != len(after) {
		return after
	}
	after = slices.Clone(after)
	for i, p := range parts {
		if p.Edited {
			after[i].Metadata = p.Content.Metadata
		}
	}
	return after
}

// checkReasons finds reasons that would be dropped. The host refuses nothing for them; their author will want to know.
func checkReasons(found *problems, history []sdk.Content, r sdk.DensityResult) {
	for _, i := range slices.Sorted(maps.Keys(r.Reasons)) {
		reason := r.Reasons[i]
		_, replaced := r.Replacements[i]
		_, removed := slices.BinarySearch(r.Removals, i)
		switch clean := reason.Clean(len(history)); {
		case !replaced && !removed:
			found.add("Reasons names entry %d, which is neither removed nor replaced", i)
		case clean.Rule != reason.Rule:
			found.add("the rule %q in the reason of entry %d would be dropped; "+
				"use at most %d characters of a to z, 0 to 9 and hyphens",
				reason.Rule, i, sdk.MaxRule)
		case clean.SupersededBy != reason.SupersededBy:
			found.add("the reason of entry %d says that entry %d superseded it, but the history has %d entries, "+
				"counted from 0",
				i, *reason.SupersededBy, len(history))
		}
	}
}

// CheckCompressed returns a [RefusedError] if the result of a Compress of history would be refused: an empty history,
// an entry that is not valid, an edited entry with more than parts of what it held, a new one with calls or results of
// its own or in the name of a person, a pinned entry or a block of unknown kind changed, a call or a response that lost its other half. The entries of the result must come from the history that the strategy was given: that is how kept ones
// are told from new ones.
func CheckCompressed(history []sdk.Content, r sdk.CompressResult) error {
	_, found := checkCompressed(history, r)
	return found.err("Compress")
}

func checkCompressed(history []sdk.Content, r sdk.CompressResult) (parts []check.Part, found problems) {
	switch {
	case r.NoOp == "" && len(r.History) == 0:
		found.add("the new history is empty; return sdk.NoOp with a reason if there is nothing to do")
	case r.NoOp == "":
		var err error
		parts, err = check.Compress(history, rewrite.Pieces(history, r.History))
		found.addAll(err)
	case len(r.History) > 0:
		found.add("the result is a no-op (%s) and has a history; it can only be one of them", r.NoOp)
	}
	if err := check.Counts(r.Metadata.Counts); err != nil {
		found.add("%v", err)
	}
	return parts, found
}
