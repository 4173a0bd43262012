package main

import "strings"

// longestRun is in bytes. A longer one without a space is data.
const longestRun = 256

// inRun are letters, digits and what joins them in names and paths; all beyond ASCII counts as a letter.
var inRun = func() (in [256]bool) {
	for c := range 256 {
		in[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
	}
	for _, c := range []byte("_./-:@~") {
		in[c] = true
	}
	return in
}()

// identifiers yields the names, paths and numbers of a text, each as often as it stands there: what a later
// call may need to the letter. Each byte is looked at a bounded number of times.
func identifiers(text string, yield func(string)) {
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && inRun[text[i]] {
			i++
		}
		if n := i - start; n >= 3 && n <= longestRun {
			inOneRun(text[start:i], yield)
		}
		i++
	}
}

// inOneRun yields the identifiers in a run of letters, digits and what joins them. Punctuation at its ends belongs to
// the sentence around it.
func inOneRun(s string, yield func(string)) {
	s = strings.TrimPrefix(strings.TrimRight(strings.TrimLeft(s, ":@-"), ":@-./~"), "./")
	if strings.Contains(s, "/") {
		if p := withoutLine(s); len(p) > 3 && strings.ContainsAny(p, "._~0123456789") || strings.Count(p, "/") > 1 ||
			strings.HasPrefix(p, "/") && len(p) > 3 {
			yield(p)
		}
		return
	}
	for s != "" {
		at := strings.IndexAny(s, ":@~")
		piece := s
		if at >= 0 {
			piece, s = s[:at], s[at+1:]
		} else {
			s = ""
		}
		symbol(strings.Trim(piece, ".-"), yield)
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

// symbol yields a name with structure, or a number. Plain words are no identifiers.
func symbol(s string, yield func(string)) {
	if len(s) < 3 {
		return
	}
	var letters, digits, dots, dashes, inner int
	camel := false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			dots++
		case c == '-':
			dashes++
		case c == '_':
			if i > 0 && i+1 < len(s) {
				inner++
			}
		default:
			letters++
			camel = camel || i > 0 && c >= 'A' && c <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z'
		}
	}
	switch {
	case dashes > 0 && dots == 0 && (digits == 0 || letters == 0):
		for piece := range strings.SplitSeq(s, "-") { // words joined by a hyphen, a date
			symbol(piece, yield)
		}
	case letters == 0:
		if digits > 2 && len(s) <= 64 && dots != 1 {
			yield(s)
		}
	case inner > 0, camel, dots+digits > 0 && len(s) > 3, s[0] == 'E' && len(s) >= 5 && strings.ToUpper(s) == s: // ENOENT
		yield(s)
	}
}
