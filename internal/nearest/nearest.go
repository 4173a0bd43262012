// Package nearest finds what a misspelt name was meant to be. It is apart from package text because of its library: the
// programs of strategy authors depend on text.
package nearest

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// maxGuess is the length in bytes up to which a misspelt word is worth a guess. The edit distance costs the product of
// the lengths.
const maxGuess = 100

// One returns the candidate that given was most likely meant to be, whatever the case; "" if none is near.
func One(given string, candidates []string) string {
	if near := Some(given, slices.Values(candidates), 1); len(near) > 0 {
		return near[0]
	}
	return ""
}

// Some returns up to most candidates that given may have been meant to be, nearest first, then alphabetically, each
// once.
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
