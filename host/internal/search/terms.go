package search

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxTerm bounds a term, in bytes; a longer one is cut.
	maxTerm = 64
	// maxParts is how many parts of a name are terms: what has more is data and no name.
	maxParts = 16
)

// term is a word as the index has it: lower-case letters and digits. joined: it is of several names. stem: it is one of
// the term before.
type term struct {
	text         string
	joined, stem bool
}

// terms yields the terms of a text. Names and paths are split where people split them, and also kept whole without what
// joins them, so getUserById, get_user_by_id and "user by id" meet, and a file is found by its name and by its path:
//
//	getUserById               get user by id getuserbyid
//	host/internal/store.go:42 host internal store go storego hostinternalstorego 42
//	it failed after 1,600 ms  it failed fail after 1 600 1600 ms
//
// Of scripts that are written without spaces, such as Chinese, each two neighbouring letters are a term.
func terms(text string) iter.Seq[term] {
	return func(yield func(term) bool) {
		for w := range words(text) {
			for t := range spelled(w) {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// words yields what of a text has terms: names and paths, and runs of letters that are written without spaces.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := 0; at < len(text); {
			r, n := utf8.DecodeRuneInString(text[at:])
			end := at + n
			switch {
			case letter(r):
				end = pathEnd(text, at)
			case unspaced(r):
				end = run(text, at, unspaced)
			default:
				at = end
				continue
			}
			if !yield(text[at:end]) {
				return
			}
			at = end
		}
	}
}

// spelled yields the terms of a word.
func spelled(word string) iter.Seq[term] {
	return func(yield func(term) bool) {
		if r, _ := utf8.DecodeRuneInString(word); unspaced(r) {
			pairs(word, yield)
		} else {
			path(word, yield)
		}
	}
}

// letter reports whether a rune is part of a name. Marks belong to the letter before them.
func letter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !unspaced(r)
}

func inName(r rune) bool { return r == '_' || letter(r) }

func unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.IsLetter(r) && (r == 'ー' ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
			unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// run returns the end of the run of such runes that begins at a place.
func run(text string, at int, in func(rune) bool) int {
	for at < len(text) {
		r, n := rune(text[at]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[at:])
		}
		if !in(r) {
			break
		}
		at += n
	}
	return at
}

// pairs yields each two neighbours of a word, or the letter if it is alone.
func pairs(word string, yield func(term) bool) {
	_, n := utf8.DecodeRuneInString(word)
	if n == len(word) {
		yield(term{text: word})
		return
	}
	for from, next := 0, n; next < len(word); {
		_, m := utf8.DecodeRuneInString(word[next:])
		if !yield(term{text: word[from : next+m]}) {
			return
		}
		from, next = next, next+m
	}
}

// pathEnd returns where names end that are joined by single dots, slashes and the like.
func pathEnd(text string, at int) int {
	for {
		at = run(text, at, inName)
		if at+1 >= len(text) || !(joins(text[at]) && startsName(text[at+1:]) || thousands(text, at)) {
			return at
		}
		at++
	}
}

// path yields the terms of a word that is one name or several.
func path(word string, yield func(term) bool) {
	var all, last strings.Builder // without what joins; last is the file with its extension, the method with its type
	elements, names := 1, 0
	for at := 0; ; {
		end := run(word, at, inName)
		folded, ok := name(word, at, end, yield)
		if !ok {
			return
		}
		names++
		if end == len(word) {
			if names > 1 {
				grow(&all, folded)
				grow(&last, folded)
			}
			break
		}
		grow(&all, folded)
		grow(&last, folded)
		at = end + 1
		if slash(word[end]) {
			last.Reset()
			elements++
		}
	}
	if names > elements && !yield(term{text: last.String(), joined: true}) {
		return
	}
	if elements > 1 {
		yield(term{text: all.String(), joined: true})
	}
}

func joins(c byte) bool { return c == '.' || c == '-' || slash(c) }

// thousands reports whether a comma stands before the last three digits of a number, or before three more and a comma.
func thousands(text string, at int) bool {
	isDigit := func(i int) bool { return i >= 0 && i < len(text) && '0' <= text[i] && text[i] <= '9' }
	if text[at] != ',' || !isDigit(at-1) || !isDigit(at+1) || !isDigit(at+2) || !isDigit(at+3) || isDigit(at+4) {
		return false
	}
	return at+4 >= len(text) || !startsName(text[at+4:])
}

func slash(c byte) bool { return c == '/' || c == '\\' }

func startsName(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return letter(r)
}

func grow(b *strings.Builder, s string) { b.WriteString(cut(s, maxTerm-b.Len())) }

// cut returns the beginning of s, of at most n bytes and whole runes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// name yields the parts of the name text[from:to] and, if there are several, the name. It returns the name in lower
// case, without underscores.
func name(text string, from, to int, yield func(term) bool) (folded string, more bool) {
	var b strings.Builder
	parts, first := 0, ""
	before := none
	part := func(begin, end int) bool {
		p := lowered(text[begin:end])
		parts++
		if parts == 1 {
			first = p // a term in any case, unless it is one letter of several parts
			return true
		}
		if parts == 2 {
			grow(&b, first)
			if len(first) > 1 && !both(first, yield) {
				return false
			}
		}
		grow(&b, p)
		return len(p) == 1 || parts > maxParts || both(p, yield)
	}
	begin := from
	for at := from; at < to; {
		r, n := utf8.DecodeRuneInString(text[at:to])
		now := kindOf(r, before)
		if before != none && (now == none || now != before && !(before == upper && now == lower) ||
			now == upper && at+n < to && kindOf(next(text[at+n:to]), upper) == lower) && at > begin {
			// The last of several capitals begins a part: HTTPServer is HTTP and Server.
			if !part(begin, at) {
				return "", false
			}
			begin = at
		}
		if now == none {
			begin = at + n
		}
		before, at = now, at+n
	}
	if begin < to && !part(begin, to) {
		return "", false
	}
	if parts == 1 {
		return first, both(first, yield)
	}
	return b.String(), parts == 0 || yield(term{text: b.String()})
}

// both yields a word and its stem.
func both(word string, yield func(term) bool) bool {
	if !yield(term{text: word}) {
		return false
	}
	s := stem(word)
	return s == word || yield(term{text: s, stem: true})
}

// lowered returns a word in lower case, with the digits of all scripts as 0 to 9.
func lowered(s string) string {
	s = strings.ToLower(cut(s, maxTerm))
	if strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsDigit(r) }) {
		s = strings.Map(ascii, s)
	}
	return cut(s, maxTerm)
}

// ascii returns the digit of ASCII for any digit, and other runes as they are. Each script has its ten digits together.
func ascii(r rune) rune {
	if r < utf8.RuneSelf || !unicode.IsDigit(r) {
		return r
	}
	for _, in := range unicode.Nd.R16 {
		if rune(in.Lo) <= r && r <= rune(in.Hi) {
			return '0' + (r-rune(in.Lo))%10
		}
	}
	for _, in := range unicode.Nd.R32 {
		if rune(in.Lo) <= r && r <= rune(in.Hi) {
			return '0' + (r-rune(in.Lo))%10
		}
	}
	return r
}

func next(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

type kind int

const (
	none kind = iota // what separates
	lower
	upper
	digit
)

func kindOf(r rune, before kind) kind {
	switch {
	case 'a' <= r && r <= 'z':
		return lower
	case r == '_':
		return none
	case unicode.IsUpper(r):
		return upper
	case unicode.IsDigit(r):
		return digit
	case unicode.IsMark(r) && before != none:
		return before
	}
	return lower
}
