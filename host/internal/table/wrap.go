package table

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a text between its words into lines of at most width characters; 0 means [DefaultWidth]. A line after the
// first begins with as many spaces as hang. A percent sign stays with its figure. A word that is longer has a line of
// its own.
func Wrap(text string, width, hang int) string {
	if width <= 0 {
		width = DefaultWidth
	}
	var out strings.Builder
	at := 0 // characters in the line
	for i, word := range strings.Split(strings.ReplaceAll(text, " %", bound+"%"), " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > width:
			out.WriteString("\n" + strings.Repeat(" ", hang))
			at = hang
		default:
			out.WriteByte(' ')
			at++
		}
		out.WriteString(word)
		at += n
	}
	return strings.ReplaceAll(out.String(), bound, " ")
}

// bound stands for a space at which no line ends. It is as wide, and in no text that is shown.
const bound = "\x00"
