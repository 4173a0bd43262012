package tokens

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is what the encodings' patterns distinguish in a character, as a set of the bits below. 0 is everything else:
// punctuation, symbols, controls. The tables are those of package unicode, as in the library's regular expressions.
type class uint8

const (
	upper   class = 1 << iota // may stand in the first half of an o200k word: Lu, Lt, Lm, Lo, M
	lower                     // may stand in the second half of an o200k word: Ll, Lm, Lo, M
	letter                    // \p{L}
	number                    // \p{N}
	space                     // \s
	newline                   // \r and \n, which are also space
)

const mark = upper | lower // \p{M}: in words of o200k, but no letter

// isSymbol reports whether c is in [^\s\p{L}\p{N}]. Marks are.
func (c class) isSymbol() bool { return c&(letter|number|space) == 0 }

// isPrefix reports whether c is in [^\r\n\p{L}\p{N}], the one character that may stand before a word.
func (c class) isPrefix() bool { return c&(letter|number|newline) == 0 }

// ascii holds the classes of the ASCII characters.
var ascii = func() (classes [utf8.RuneSelf]class) {
	for r := range classes {
		classes[r] = classify(rune(r))
	}
	return classes
}()

// wide holds the classes of the characters below 0x32000, where nearly all text is. It is filled at the first
// character that is not ASCII, which takes under a millisecond.
var wide = sync.OnceValue(func() *[0x32000]class {
	var classes [0x32000]class
	set := func(bits class, tables ...*unicode.RangeTable) {
		for _, table := range tables {
			for _, r := range table.R16 {
				for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
					classes[c] |= bits
				}
			}
			for _, r := range table.R32 {
				for c := r.Lo; c <= r.Hi && c < uint32(len(classes)); c += r.Stride {
					classes[c] |= bits
				}
			}
		}
	}
	set(upper|letter, unicode.Lu, unicode.Lt)
	set(lower|letter, unicode.Ll)
	set(upper|lower|letter, unicode.Lm, unicode.Lo)
	set(mark, unicode.M)
	set(number, unicode.N)
	set(space, unicode.White_Space)
	set(newline, &unicode.RangeTable{R16: []unicode.Range16{{Lo: '\n', Hi: '\r', Stride: '\r' - '\n'}}})
	return &classes
})

// classAt returns the class and the width in bytes of the character at s[i:], which must be valid UTF-8.
func classAt(s string, i int) (class, int) {
	if b := s[i]; b < utf8.RuneSelf {
		return ascii[b], 1
	}
	r, width := utf8.DecodeRuneInString(s[i:])
	if classes := wide(); int(r) < len(classes) {
		return classes[r], width
	}
	return classify(r), width
}

// classify finds the class of any character, slowly.
func classify(r rune) (c class) {
	switch {
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper | letter
	case unicode.Is(unicode.Ll, r):
		return lower | letter
	case unicode.IsLetter(r):
		return upper | lower | letter
	case unicode.IsMark(r):
		return mark
	case unicode.IsNumber(r):
		return number
	case r == '\n' || r == '\r':
		return space | newline
	case unicode.IsSpace(r):
		return space
	}
	return 0
}
