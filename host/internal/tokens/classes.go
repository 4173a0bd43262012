package tokens

import (
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// class is the set of what the encodings' patterns distinguish in a character; 0 for punctuation, symbols, controls.
// The tables are package unicode's, as in the library's regular expressions.
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

var bits = []struct {
	bits   class
	tables []*unicode.RangeTable
}{
	{upper | letter, []*unicode.RangeTable{unicode.Lu, unicode.Lt}},
	{lower | letter, []*unicode.RangeTable{unicode.Ll}},
	{upper | lower | letter, []*unicode.RangeTable{unicode.Lm, unicode.Lo}},
	{mark, []*unicode.RangeTable{unicode.M}},
	{number, []*unicode.RangeTable{unicode.N}},
	{space, []*unicode.RangeTable{unicode.White_Space}},
	{newline, []*unicode.RangeTable{{R16: []unicode.Range16{{Lo: '\n', Hi: '\r', Stride: '\r' - '\n'}}}}},
}

func classify(r rune) (c class) {
	for _, b := range bits {
		if unicode.In(r, b.tables...) {
			c |= b.bits
		}
	}
	return c
}

// notASCII is for a byte of a longer character. No character has all bits.
const notASCII = ^class(0)

var ascii = func() (classes [256]class) {
	for b := range classes {
		if classes[b] = notASCII; b < utf8.RuneSelf {
			classes[b] = classify(rune(b))
		}
	}
	return classes
}()

// wide has the classes of the characters below 0x32000, where nearly all text is; nil before the first is needed.
var wide atomic.Pointer[[0x32000]class]

// fillWide makes wide in under a millisecond. Goroutines may do so at once, with the same result.
func fillWide() *[0x32000]class {
	var classes [0x32000]class
	for _, b := range bits {
		for _, table := range b.tables {
			for _, r := range table.R16 {
				for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
					classes[c] |= b.bits
				}
			}
			for _, r := range table.R32 {
				for c := r.Lo; c <= r.Hi && c < uint32(len(classes)); c += r.Stride {
					classes[c] |= b.bits
				}
			}
		}
	}
	wide.Store(&classes)
	return &classes
}

// classAt returns the class and the width in bytes of the character at s[i:], which must be valid UTF-8.
func classAt(s string, i int) (class, int) {
	if c := ascii[s[i]]; c != notASCII {
		return c, 1
	}
	// U+FFFD, a symbol, is common where text was not UTF-8.
	if s[i] == 0xef && s[i+1] == 0xbf && s[i+2] == 0xbd {
		return 0, 3
	}
	r, width := decode(s[i:])
	classes := wide.Load()
	if classes == nil {
		classes = fillWide()
	}
	if int(r) < len(classes) {
		return classes[r], width
	}
	return classify(r), width
}

// decode is utf8.DecodeRuneInString for text known to be valid and not ASCII, in half the time.
func decode(s string) (r rune, width int) {
	const low = 0x3f // the bits of a following byte
	switch b := s[0]; {
	case b < 0xe0:
		return rune(b&0x1f)<<6 | rune(s[1]&low), 2
	case b < 0xf0:
		_ = s[2]
		return rune(b&0xf)<<12 | rune(s[1]&low)<<6 | rune(s[2]&low), 3
	default:
		_ = s[3]
		return rune(b&7)<<18 | rune(s[1]&low)<<12 | rune(s[2]&low)<<6 | rune(s[3]&low), 4
	}
}
