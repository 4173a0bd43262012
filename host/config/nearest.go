package config

import (
	"strings"

	"github.com/agext/levenshtein"
)

// maxGuess is the length in bytes up to which a misspelt word is worth a guess: the distance costs the product of the
// lengths, and what is longer is no spelling mistake.
const maxGuess = 100

// nearest returns the candidate that given was most likely meant to be, or "".
func nearest(given string, candidates []string) string {
	if given == "" || len(given) > maxGuess {
		return ""
	}
	given = strings.ToLower(given)
	best, least := "", max(2, len(given)/3)+1
	if len(given) < 4 {
		least = 2
	}
	for _, c := range candidates {
		if c == "" {
			continue
		}
		if d := levenshtein.Distance(given, strings.ToLower(c), nil); d < least {
			best, least = c, d
		}
	}
	return best
}
