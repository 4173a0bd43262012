package tokens

import (
	"unicode"
	"unicode/utf8"
)

// class is what the encodings' patterns distinguish in a character. The tables are those of package unicode, which
// the library's regular expressions use too.
type class uint8

const (
	other  class = iota // none of the rest: punctuation, symbols, controls
	letter              // \p{L}
	number              // \p{N}
	mark                // \p{M}
	space               // \s
)

func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		switch {
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			return letter
		case '0' <= r && r <= '9':
			return number
		case r == ' ' || '\t' <= r && r <= '\r':
			return space
		}
		return other
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return number
	case unicode.IsMark(r):
		return mark
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// safeBetween reports whether a text can be cut between a character of class a and the character r of class b without
// changing its count in any encoding. Two things must hold: every encoding splits there, and the text before the cut
// is split the same way whatever follows. No pattern looks behind, so the text after the cut needs no proof.
//
//   - After a letter: a piece continues after a letter only with a letter, a mark (o200k) or a contraction ('s).
//   - After a number: a piece continues after a number only with a number.
//   - After anything else but space: a piece continues with its like, a line break (or, in o200k, a slash after one),
//     or a letter that it is the prefix of. Other space and numbers always begin a new piece.
//   - After space nothing is safe: "\s+(?!\S)" leaves the last space to the word that follows, if one does.
func safeBetween(a, b class, r rune) bool {
	switch a {
	case letter:
		return b == number || b == space || b == other && r != '\''
	case number:
		return b != number
	case other, mark:
		return b == number || b == space && r != '\n' && r != '\r'
	default:
		return false
	}
}
