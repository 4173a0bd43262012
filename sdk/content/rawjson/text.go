package rawjson

import (
	"encoding/json"
	"unicode/utf8"
)

// Text decodes a JSON string; ok is false if raw is not a string. White space around it is not allowed.
//
// The result is valid UTF-8: a byte that is not, and an escaped half of a surrogate pair, become U+FFFD.
func Text(raw []byte) (text string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; plain(inner) {
		return string(inner), true
	}
	// The slow path, for escapes and bytes that are not UTF-8.
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", false
	}
	return text, true
}

// plain reports whether the inside of a JSON string is its own value: no escapes, valid UTF-8. It is the fast path for
// most strings; ASCII is recognised in the same pass.
func plain(inner []byte) bool {
	// Pure ASCII needs no second pass.
	ascii := true
	for _, c := range inner {
		if !safe[c] {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.Valid(inner)
}

// IsNull reports whether raw is null, empty or white space. Recorders write null for absent values, and Go has nil.
func IsNull(raw []byte) bool {
	s := New(raw)
	switch s.Kind() {
	// Nothing there counts as null.
	case 0:
		return true
	case 'n':
		return s.literal("null") == nil
	default:
		return false
	}
}

// Field returns the value of an object's field as it stands; nil if there is no such field, or raw is not a valid
// object. If a name occurs twice, the last value counts, as in encoding/json. It reads the whole object: use it for
// small ones.
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
