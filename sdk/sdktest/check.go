package sdktest

import (
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
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

// refused is the error for what is wrong with an answer; nil if nothing is.
func refused(op string, errs ...error) error {
	var found conform.Findings
	for _, err := range errs {
		found.Add("", err)
	}
	if found.Err() == nil {
		return nil
	}
	out := &RefusedError{Op: op}
	for _, f := range found.All {
		out.Problems = append(out.Problems, f.String())
	}
	if found.More > 0 {
		out.Problems = append(out.Problems, check.More(found.More).Error())
	}
	return out
}

// CheckDensity returns a [RefusedError] if the result of an Optimize of history would be refused: positions out of
// bounds, twice, or in both sets, an entry changed beyond its blocks, a human entry removed or
// changed beyond lines taken out of it, words, calls or results that the model and its tools did not make, a failure
// that looks like a success, signed thinking changed, a pinned entry or a block of unknown kind changed, a call or a
// response that lost its other half.
func CheckDensity(history []sdk.Content, r sdk.DensityResult) error {
	_, err := conform.Optimized(history, r)
	return refused("Optimize", err)
}

// CheckCompressed returns a [RefusedError] if the result of a Compress of history would be refused: an empty history,
// an entry that is not valid, an edited entry with more than parts of what it held, a new one with calls or results of
// its own or in the name of a person, a pinned entry or a block of unknown kind changed, a call or a response that
// lost its other half. The entries of the result must come from the history that the strategy was given: that is how
// kept ones are told from new ones.
func CheckCompressed(history []sdk.Content, r sdk.CompressResult) error {
	_, _, err := conform.Compressed(history, r, "")
	return refused("Compress", err)
}
