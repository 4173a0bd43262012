package distill

import "strings"

// longestWord is in bytes. A longer one is data.
const longestWord = 256

// identifiers yields the names, paths and numbers of a text, each as often as it stands there: what a later call may
// need to the letter. Plain words are no identifiers. Each byte is looked at a bounded number of times.
func identifiers(text string, yield func(string)) {
	for word := range strings.FieldsFuncSeq(text, between) {
		if len(word) >= 3 && len(word) <= longestWord {
			inWord(word, yield)
		}
	}
}

// between reports whether a character divides words: it is no letter, no digit, and none of what joins these in names
// and paths. All beyond ASCII counts as a letter.
func between(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '-' || r > ':') && r != '_' && r != '@' && r != '~' &&
		r < 0x80
}

// inWord yields the identifiers in a word. Punctuation at its ends belongs to the sentence around it.
func inWord(s string, yield func(string)) {
	s = strings.TrimPrefix(strings.TrimRight(strings.TrimLeft(s, ":@-"), ":@-./~"), "./")
	if strings.Contains(s, "/") {
		// "and/or" is no path, but "a/b.go", "/tmp" and "a/b/c" are.
		if p := withoutLine(s); len(p) > 3 &&
			(strings.ContainsAny(p, "._~0123456789") || strings.Count(p, "/") > 1 || p[0] == '/') {
			yield(p)
		}
		return
	}
	for piece := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(":@~-", r) }) {
		if piece = strings.Trim(piece, "."); isName(piece) {
			yield(piece)
		}
	}
}

// withoutLine cuts line and column off a path: "a.go:12:3".
func withoutLine(s string) string {
	for {
		at := strings.LastIndexByte(s, ':')
		if at < 0 || strings.Trim(s[at+1:], "0123456789-") != "" {
			return s
		}
		s = s[:at]
	}
}

// isName reports whether a word is a name with structure ("io_read", "parseHeader", "host7", "a.go"), or a number of
// three digits or more. A decimal fraction is a measure, which no call needs.
func isName(s string) bool {
	if strings.Trim(s, ".0123456789") == "" {
		// "1.2.3" and "8080" are names, "3.14" is not.
		return len(s) > 2 && strings.Count(s, ".") != 1
	}
	for i := 1; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z' {
			return true
		}
	}
	return len(s) > 3 && strings.ContainsAny(s, "_.0123456789")
}
