package tokens

import "unicode/utf8"

// A splitter returns the end of the piece at s[i]. Tokens never cross pieces. s must be valid UTF-8, and i the end of
// the piece before. Splitters do by hand what the encoding's pattern in tiktoken-go does: the alternatives in order,
// with the longest match and backtracking. They look at each character a bounded number of times, so splitting is
// linear in the length of s.
type splitter func(s string, i int) (end int)

// splitO200k:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
func splitO200k(s string, i int) int {
	c, width := ascii[s[i]], 1
	if c == notASCII {
		c, width = classAt(s, i)
	}
	word, end := asciiWord(s, i, c, width)
	if end < len(s) && s[end] >= utf8.RuneSelf { // it may be part of the word
		if next, _ := classAt(s, end); next&(upper|lower) != 0 {
			word, end = i, wordO200k(s, i, c, width)
		}
	}
	if end > word {
		if end < len(s) && s[end] == '\'' {
			return contraction(s, end)
		}
		return end
	}
	switch {
	case c == number:
		return numbers(s, i+width)
	case c&space != 0:
		if end := symbols(s, i, c, width, breaks|1<<'/'); end > 0 {
			return end
		}
		return spaces(s, i)
	}
	return symbols(s, i, c, width, breaks|1<<'/')
}

// asciiWord returns where the letters of a word of o200k at s[i] begin and end if they are ASCII. Nearly all are, and
// then both kinds of words end at the same place.
func asciiWord(s string, i int, c class, width int) (word, end int) {
	if c.isPrefix() && c != mark {
		i += width
	}
	end = i
	for end < len(s) && 'A' <= s[end] && s[end] <= 'Z' {
		end++
	}
	for end < len(s) && 'a' <= s[end] && s[end] <= 'z' {
		end++
	}
	return i, end
}

// wordO200k returns the end of the word of o200k at s[i], without a contraction; 0 if there is none. The first kind of
// word is tried with and without the optional prefix before the second kind.
func wordO200k(s string, i int, c class, width int) int {
	if c&letter != 0 {
		first, second := halves(s, i)
		return firstOf(first, second)
	}
	if !c.isPrefix() {
		return 0
	}
	first, second := halves(s, i+width)
	if first == 0 && c == mark { // without a prefix, the mark is part of the word
		first, _ = halves(s, i)
	}
	return firstOf(first, second)
}

func firstOf(a, b int) int {
	if a > 0 {
		return a
	}
	return b
}

// halves returns where a word at s[i] ends: as the first kind (upper*lower+) and as the second (upper+lower*); 0 if it
// is not.
func halves(s string, i int) (first, second int) {
	at, both := i, 0 // both: after the last character that can be in either half
	var c class
	width := 0
	for at < len(s) {
		if c, width = classAt(s, at); c&upper == 0 {
			break
		}
		at += width
		if c&lower != 0 {
			both = at
		}
	}
	if at < len(s) && c&lower != 0 && c&upper == 0 {
		for at < len(s) {
			if b := s[at]; 'a' <= b && b <= 'z' {
				at++
				continue
			}
			if c, width = classAt(s, at); c&lower == 0 {
				break
			}
			at += width
		}
		both = at
	}
	if at > i {
		second = at
	}
	// The first half gives back what the second half needs: one character that can be in either.
	return both, second
}

// splitCL100k:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func splitCL100k(s string, i int) int {
	c, width := classAt(s, i)
	switch {
	case c&letter != 0:
		return letters(s, i+width)
	case c == number:
		return numbers(s, i+width)
	case s[i] == '\'':
		if end := contraction(s, i); end > i {
			return end
		}
	}
	if c.isPrefix() {
		if end := letters(s, i+width); end > i+width {
			return end
		}
	}
	if end := symbols(s, i, c, width, breaks); end > 0 {
		return end
	}
	return spaces(s, i)
}

func letters(s string, i int) int {
	for i < len(s) {
		if b := s[i] | 0x20; 'a' <= b && b <= 'z' {
			i++
			continue
		}
		c, width := classAt(s, i)
		if c&letter == 0 {
			break
		}
		i += width
	}
	return i
}

// numbers returns the end of a number of at most three digits, of which one precedes s[i].
func numbers(s string, i int) int {
	for most := 2; most > 0 && i < len(s); most-- {
		c, width := classAt(s, i)
		if c != number {
			break
		}
		i += width
	}
	return i
}

const breaks = 1<<'\r' | 1<<'\n'

// symbols returns the end of the symbols at s[i:], whose first character has class c, and of the characters after them
// whose bits are in then; 0 if there are no symbols. One space may precede the symbols.
func symbols(s string, i int, c class, width int, then uint64) int {
	if s[i] == ' ' && i+1 < len(s) {
		i++
		c, width = classAt(s, i)
	}
	if !c.isSymbol() {
		return 0
	}
	for i += width; i < len(s); i += width {
		if c, width = ascii[s[i]], 1; c == notASCII {
			c, width = classAt(s, i)
		}
		if !c.isSymbol() {
			break
		}
	}
	for i < len(s) && s[i] < 64 && then>>s[i]&1 != 0 {
		i++
	}
	return i
}

// spaces returns the end of the piece of space at s[i:]: its last line break if there is one, else all of it except the
// last character, which is left for what follows.
func spaces(s string, i int) int {
	at, last, lineEnd := i, i, 0
	for at < len(s) {
		c, width := classAt(s, at)
		if c&space == 0 {
			break
		}
		last = at
		at += width
		if c&newline != 0 {
			lineEnd = at
		}
	}
	switch {
	case lineEnd > 0:
		return lineEnd
	case at < len(s) && last > i:
		return last
	}
	return at
}

// contraction returns the end of 's, 't, 're, 've, 'm, 'll or 'd at s[i:], in any case; i if there is none.
func contraction(s string, i int) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return i
	}
	switch s[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if i+2 < len(s) && s[i+2]|0x20 == 'e' {
			return i + 3
		}
	case 'l':
		if i+2 < len(s) && s[i+2]|0x20 == 'l' {
			return i + 3
		}
	}
	return i
}

// safeCut returns a place at or after s[i:] where s can be cut without changing its count, in any encoding; len(s) if
// there is none. It is between a letter and a line break, a space or a digit (after a letter, a piece continues only
// with letters, marks and contractions), or between a digit and anything else (numbers are pieces). No pattern looks
// back.
func safeCut(s string, i int) int {
	for i = max(i, 1); i < len(s); i++ {
		if s[i-1] >= utf8.RuneSelf || s[i] >= utf8.RuneSelf {
			continue
		}
		before, b := ascii[s[i-1]], s[i]
		if before&letter != 0 && (b == ' ' || b == '\n' || ascii[b] == number) || before == number && ascii[b] != number {
			return i
		}
	}
	return len(s)
}
