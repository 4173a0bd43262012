// Package nearest finds what a misspelt name was meant to be, for "did you mean …?".
//
// It is apart from package text because of its library: strategies show text too, and the programs of their authors
// should not depend on more modules than they need.
package nearest

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// maxGuess is the length in bytes up to which a misspelt word is worth a guess. The edit distance costs the product of
// the lengths, and what is longer is no spelling mistake.
const maxGuess = 100

// One returns the candidate that given was most likely meant to be, for "did you mean …?"; "" if none is near.
// Upper and lower case are the same.
func One(given string, candidates []string) string {
	if near := Some(given, slices.Values(candidates), 1); len(near) > 0 {
		return near[0]
	}
	return ""
}

// Some returns up to most candidates that given may have been meant to be, the nearest first, each once.
// Candidates at the same distance stand in the order of their letters, so that a message is the same each time.
func Some(given string, candidates iter.Seq[string], most int) []string {
	if given == "" || len(given) > maxGuess {
		return nil
	}
	given = strings.ToLower(given)
	limit := distanceLimit(given)
	byDistance := map[int][]string{}
	for c := range candidates {
		if c == "" || len(c) > maxGuess {
			continue
		}
		if d := levenshtein.Distance(given, strings.ToLower(c), nil); d <= limit {
			byDistance[d] = append(byDistance[d], c)
		}
	}
	var near []string
	for _, d := range slices.Sorted(maps.Keys(byDistance)) {
		slices.Sort(byDistance[d])
		near = append(near, slices.Compact(byDistance[d])...)
	}
	return near[:min(len(near), most)]
}

// distanceLimit is how many letters may be wrong: one of a very short word, else two or a third of them.
func distanceLimit(given string) int {
	if len(given) < 4 {
		return 1
	}
	return max(2, len(given)/3)
}
