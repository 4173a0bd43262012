package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes s safe for one line of a terminal or of a log: white space becomes a space, any other character that
// does not print becomes U+FFFD, and the rest is clipped to limit bytes. Escape sequences lose their ESC and with it
// their effect.
func Printable(s string, limit int) string {
	clipped := len(s) > 4*limit // no output byte comes from further on
	if clipped {
		s = s[:boundary(s, 4*limit)]
	}
	s = strings.Map(visible, s)
	if clipped && len(s) <= limit {
		return s + Ellipsis
	}
	return Clip(s, limit)
}

// Lines is [Printable] for several lines of at most limit bytes each: line breaks are kept, and a tab becomes four
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

// OneLine returns s as one line of at most columns characters: what does not print is dropped, and runs of white space
// are one space.
func OneLine(s string, columns int) string {
	// A character has at most four bytes; the factor 8 leaves room for white space. The rest cannot be seen.
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
