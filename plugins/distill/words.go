package distill

import (
	"iter"
	"strings"
)

// longestWord is in bytes. A longer one is data.
const longestWord = 256

// names are identifiers that were seen.
type names map[string]bool

func (n names) add(text string) {
	for word := range identifiers(text) {
		n[word] = true
	}
}

// newIn counts the identifiers in a text that were not seen.
func (n names) newIn(text string) (count float64) {
	for word := range identifiers(text) {
		if !n[word] {
			count++
		}
	}
	return count
}

// identifiers yields the names with structure ("io_read", "parseHeader", "a/b.go"), paths and numbers of a text, each as
// often as it stands there: what a later call may need to the letter. Plain words are none.
func identifiers(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(text, between) {
			word = strings.Trim(strings.TrimPrefix(word, "./"), "./-")
			if len(word) > 3 && len(word) <= longestWord && structured(word) && !yield(word) {
				return
			}
		}
	}
}

// between reports whether a character divides words: it is no letter, no digit, and none of what joins these in names
// and paths. All beyond ASCII counts as a letter.
func between(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '-' || r > '9') && r != '_' && r < 0x80
}

func structured(word string) bool {
	if strings.ContainsAny(word, "_./0123456789") {
		return true
	}
	for i := 1; i < len(word); i++ {
		if word[i] >= 'A' && word[i] <= 'Z' && word[i-1] >= 'a' && word[i-1] <= 'z' {
			return true
		}
	}
	return false
}
