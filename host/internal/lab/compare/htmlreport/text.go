package htmlreport

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/internal/text"
)

// short shortens a name that comes from a session or from settings and may have any length, and replaces characters
// that HTML cannot contain.
func short(s string) string { return shorten(s, maxName) }

// shorten cuts s to at most most bytes, and cleans it.
func shorten(s string, most int) string { return clean(text.Clip(s, most)) }

// clean replaces control characters and non-characters by U+FFFD: HTML forbids them, and browsers differ in what they
// do with them. Escaping is the template's job.
func clean(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' || c == 0xFFFE || c == 0xFFFF {
			return utf8.RuneError
		}
		return c
	}, text)
}

// show formats a figure for the page.
func show(k compare.Kind, v float64) string { return typeset(k.Text(v)) }

func number(n int) string { return show(compare.Count, float64(n)) }

// typeset gives a figure a minus sign, which is as wide as a plus (in columns that are aligned at the right, a hyphen is
// too short to be seen), and keeps percent signs on its line.
func typeset(text string) string {
	if text == "-" {
		return "–"
	}
	return strings.NewReplacer("-", "−", " %", "\u00a0%").Replace(text)
}

// thousands formats a value for an axis, where room is scarce: round values of 10,000 and above as "10 k".
func thousands(v float64) string {
	if n := int(v); n < 10_000 || n%1000 != 0 {
		return number(n)
	}
	return number(int(v)/1000) + " k"
}
