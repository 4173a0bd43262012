package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes s fit for one line of a terminal or of a log: white space becomes a space, any other character that
// does not print becomes U+FFFD, and what is left is clipped to limit bytes. Escape sequences lose their ESC and with
// it their effect.
func Printable(s string, limit int) string {
	clipped := len(s) > 4*limit // no output byte can come from further behind
	if clipped {
		s = s[:boundary(s, 4*limit)]
	}
	s = strings.Map(visible, s)
	if clipped && len(s) <= limit {
		return s + Ellipsis
	}
	return Clip(s, limit)
}

// Lines is [Printable] for text of several lines, each of at most limit bytes: line breaks stay, and a tab becomes four
// spaces.
func Lines(s string, limit int) string {
	var out strings.Builder
	for line := range strings.Lines(s) {
		body := strings.TrimRight(line, "\r\n")
		out.WriteString(Printable(strings.ReplaceAll(body, "\t", "    "), limit))
		if len(body) < len(line) {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// visible is how [Printable] shows one character.
func visible(r rune) rune {
	switch {
	case unicode.IsPrint(r):
		return r
	case unicode.IsSpace(r):
		return ' '
	default:
		return utf8.RuneError
	}
}

// OneLine returns at most columns characters of s as one line of words: what does not print is dropped, and runs of
// white space are one space.
func OneLine(s string, columns int) string {
	// A character has at most four bytes. The rest of a very long text cannot be seen; the factor leaves room for white
	// space.
	window := 8 * utf8.UTFMax * max(columns, 1)
	s = strings.TrimSpace(s[:boundaryOrEnd(s, 1<<20)])
	clipped := len(s) > window
	if clipped {
		s = s[:boundary(s, window)]
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' || r == utf8.RuneError })
	s = strings.Join(words, " ")
	if utf8.RuneCountInString(s) > columns {
		s, clipped = s[:skipForward(s, max(columns-1, 0))], true
	}
	if clipped {
		s = strings.TrimRight(s, " ") + Ellipsis
	}
	return s
}

func boundaryOrEnd(s string, limit int) int {
	if len(s) <= limit {
		return len(s)
	}
	return boundary(s, limit)
}
