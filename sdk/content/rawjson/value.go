package rawjson

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// skip reads one value of any kind. It does not recurse: a slice of closing delimiters keeps the nesting, so hostile
// input cannot exhaust the stack. The first 64 levels need no allocation. Errors are [*SyntaxError], with the byte at
// which the text stopped being JSON.
func (s *Scanner) skip() error {
	var buf [64]byte
	open := buf[:0]
	for {
		// A value starts here.
		c := s.Kind()
		switch {
		case c == '{' || c == '[':
			if len(open) >= MaxDepth {
				return s.fail(s.pos, fmt.Sprintf("values are nested deeper than %d", MaxDepth))
			}
			s.pos++
			open = append(open, c+2) // '}' and ']' are two behind '{' and '['
			if s.Kind() == c+2 {
				break // empty: the closing delimiter is read below
			}
			if c == '{' {
				if err := s.field(); err != nil {
					return err
				}
			}
			continue
		default:
			if err := s.scalar(c); err != nil {
				return err
			}
		}
		// A value ended here, or an empty object or array has just begun.
		for {
			if len(open) == 0 {
				return nil
			}
			closing := open[len(open)-1]
			if c := s.Kind(); c == closing {
				s.pos++
				open = open[:len(open)-1]
				continue
			}
			if _, err := s.more(closing); err != nil {
				return err
			}
			if closing == '}' {
				if err := s.field(); err != nil {
					return err
				}
			}
			break
		}
	}
}

// field reads a field's name and colon without decoding the name.
func (s *Scanner) field() error {
	if _, err := s.nameToken(); err != nil {
		return err
	}
	return s.colon()
}

func (s *Scanner) scalar(c byte) error {
	switch {
	case c == '"':
		return s.str()
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	case s.pos >= len(s.data):
		return s.end()
	default:
		return s.fail(s.pos, "unexpected "+describe(c)+", expected a value")
	}
}

// safe tells which bytes may be unescaped in a string. All bytes above ASCII are: they are parts of characters.
var safe = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= 0x20 && c != '"' && c != '\\'
	}
	return t
}()

// endSafe returns the position of the first byte from i on that must be escaped in a string, or len(data). It looks at
// eight bytes at a time: strings are most of a history. above is not 0 if one of the bytes before that position, or of
// the few behind it, is above ASCII.
func endSafe(data []byte, i int) (end int, above uint64) {
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
	)
	seen := uint64(0)
	for ; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		seen |= w
		quote, backslash := w^('"'*ones), w^('\\'*ones)
		// The high bit of a byte is set where w has a byte below 0x20, and where one of the others is 0. Above the
		// first such byte a borrow may set it wrongly.
		if found := ((w-0x20*ones)&^w | (quote-ones)&^quote | (backslash-ones)&^backslash) & high; found != 0 {
			return i + bits.TrailingZeros64(found)/8, seen & high
		}
	}
	for i < len(data) && safe[data[i]] {
		seen |= uint64(data[i])
		i++
	}
	return i, seen & high
}

// str checks escapes; [Text] decodes them.
func (s *Scanner) str() error {
	data, start := s.data, s.pos+1
	for i, above := start, uint64(0); ; {
		end, more := endSafe(data, i)
		if i, above = end, above|more; i == len(data) {
			return s.end()
		}
		switch c := data[i]; c {
		case '"':
			s.pos = i + 1
			if above != 0 && !utf8.Valid(data[start:i]) {
				s.notUTF8 = true
			}
			return nil
		case '\\':
			if i+1 < len(data) && escapes[data[i+1]] != 0 { // nearly all: line breaks and quotes
				i += 2
				continue
			}
			size, err := s.escape(i)
			if err != nil {
				return err
			}
			i += size
		default:
			return s.fail(i, "unexpected "+describe(c)+" in a string")
		}
	}
}

func (s *Scanner) escape(i int) (int, error) {
	if i+1 >= len(s.data) {
		return 0, s.end()
	}
	switch s.data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	// Half of a surrogate pair is valid JSON; [Text] replaces it.
	case 'u':
		for j := i + 2; j < i+6; j++ {
			if j >= len(s.data) {
				return 0, s.end()
			}
			if !isHex(s.data[j]) {
				return 0, s.fail(j, "unexpected "+describe(s.data[j])+" in a \\u escape")
			}
		}
		return 6, nil
	default:
		return 0, s.fail(i+1, "unexpected "+describe(s.data[i+1])+" in an escape sequence")
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// literal compares byte by byte: an error names the wrong byte.
func (s *Scanner) literal(word string) error {
	for i := range len(word) {
		if s.pos+i >= len(s.data) {
			return s.end()
		}
		if s.data[s.pos+i] != word[i] {
			return s.fail(s.pos+i, "unexpected "+describe(s.data[s.pos+i])+" in "+word)
		}
	}
	s.pos += len(word)
	return nil
}

// number steps over a number of any size. Digits are never converted, so large ids and long fractions are exact.
func (s *Scanner) number() error {
	i := s.pos
	if s.data[i] == '-' {
		i++
	}
	if i < len(s.data) && s.data[i] == '0' {
		i++ // only a fraction or an exponent may follow a leading zero
	} else if err := s.digits(&i); err != nil {
		return err
	}
	if i < len(s.data) && s.data[i] == '.' {
		i++
		if err := s.digits(&i); err != nil {
			return err
		}
	}
	if i < len(s.data) && (s.data[i] == 'e' || s.data[i] == 'E') {
		i++
		if i < len(s.data) && (s.data[i] == '+' || s.data[i] == '-') {
			i++
		}
		if err := s.digits(&i); err != nil {
			return err
		}
	}
	s.pos = i
	return nil
}

func (s *Scanner) digits(i *int) error {
	start := *i
	for *i < len(s.data) && '0' <= s.data[*i] && s.data[*i] <= '9' {
		*i++
	}
	if *i > start {
		return nil
	}
	if *i >= len(s.data) {
		return s.end()
	}
	return s.fail(*i, "unexpected "+describe(s.data[*i])+" in a number")
}
