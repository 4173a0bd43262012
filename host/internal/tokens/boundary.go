package tokens

import (
	"unicode"
	"unicode/utf8"
)

// class is what the encodings' patterns see in a character. The tables are those of package unicode, as in the
// library's regular expressions.
type class uint8

const (
	other  class = iota // what is none of the rest: punctuation, symbols, controls
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
// changing its count in any encoding. It must hold that every encoding splits there, and that what stands before the cut
// is split the same whatever follows. No pattern looks behind, so what follows the cut needs no proof.
//
//   - After a letter: no piece goes on after a letter but with a letter, a mark (o200k) or a contraction ('s).
//   - After a number: no piece goes on after a number but with a number.
//   - After anything else but space: a piece goes on with its like, a line break (or, in o200k, a slash behind one), or a
//     letter that it is the prefix of. Other space and numbers always begin a new piece.
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
