package rawjson

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// Text decodes a JSON string; ok is false if raw is anything else, or has white space around it. The result is valid
// UTF-8: a byte that is not, and an escaped half of a surrogate pair, become U+FFFD.
func Text(raw []byte) (text string, ok bool) {
	if !quoted(raw) {
		return "", false
	}
	// Each escape loses at least half of its bytes, and may be two backslashes.
	buf, ok := AppendText(make([]byte, 0, len(raw)-2-bytes.Count(raw, []byte{'\\'})/2), raw)
	if !ok {
		return "", false
	}
	return unsafe.String(unsafe.SliceData(buf), len(buf)), true // buf is not written again
}

// AppendText is [Text] that appends to a buffer. If ok is false, what it appended means nothing.
func AppendText(buf, raw []byte) (text []byte, ok bool) {
	if !quoted(raw) {
		return buf, false
	}
	if inner := raw[1 : len(raw)-1]; utf8.Valid(inner) {
		return unescaped(buf, inner)
	}
	var decoded string
	if err := json.Unmarshal(raw, &decoded); err != nil {
		return buf, false
	}
	return append(buf, decoded...), true
}

func quoted(raw []byte) bool { return len(raw) >= 2 && raw[0] == '"' && raw[len(raw)-1] == '"' }

// plain reports whether the inside of a JSON string is its own value: no escapes, valid UTF-8.
func plain(inner []byte) bool {
	end, above := endSafe(inner, 0)
	return end == len(inner) && (above == 0 || utf8.Valid(inner))
}

// unescaped appends the value of a JSON string; inner is what is between its quotes, in valid UTF-8. ok is false if it
// is invalid.
func unescaped(buf, inner []byte) (text []byte, ok bool) {
	for {
		n, _ := endSafe(inner, 0)
		buf = append(buf, inner[:n]...)
		if inner = inner[n:]; len(inner) == 0 {
			return buf, true
		}
		if inner[0] != '\\' || len(inner) < 2 {
			return buf, false
		}
		if inner[1] != 'u' {
			c := escapes[inner[1]]
			if c == 0 {
				return buf, false
			}
			buf = append(buf, c)
			inner = inner[2:]
			continue
		}
		r := unit(inner)
		if r < 0 {
			return buf, false
		}
		inner = inner[6:]
		if utf16.IsSurrogate(r) {
			pair := utf16.DecodeRune(r, unit(inner))
			if r = pair; pair != utf8.RuneError {
				inner = inner[6:]
			}
		}
		buf = utf8.AppendRune(buf, r)
	}
}

// escapes maps the byte after a backslash to what the two mean; 0 is no escape of two bytes.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unit returns the code unit of the \u escape at the beginning of b; -1 if there is none.
func unit(b []byte) (r rune) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

// IsNull reports whether raw is null, empty or white space: recorders write null for absent values.
func IsNull(raw []byte) bool {
	s := New(raw)
	switch s.Kind() {
	case 0:
		return true
	case 'n':
		return s.literal("null") == nil
	default:
		return false
	}
}

// Field returns the raw value of an object's field; nil if there is none, or raw is not a valid object. If a name
// occurs twice, the last value counts, as in encoding/json. It reads the whole object: use it for small ones.
func Field(raw []byte, name string) []byte {
	var value []byte
	s := New(raw)
	if s.Object(func(n []byte) error {
		v, err := s.Skip()
		if string(n) == name {
			value = v
		}
		return err
	}) != nil {
		return nil
	}
	return value
}

// FieldText returns the string in an object's field; "" if there is none.
func FieldText(raw []byte, name string) string {
	text, _ := Text(Field(raw, name))
	return text
}

// Encode returns the JSON form of a value, with a line break at its end. Unlike [json.Marshal] it keeps the bytes of raw
// values in it: conversations are full of <, > and &, which that escapes for HTML.
func Encode(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return b.Bytes(), err
}
