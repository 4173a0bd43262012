package wire

import (
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// What proto3 says about encoding fields: a zero value is left out, except in a oneof. Sizes are needed before bytes,
// because a message stands behind its length.

// sizeString returns the bytes that a string field takes, with its tag and length; 0 for "", which proto3 leaves out.
func sizeString(num protowire.Number, s string) int {
	if s == "" {
		return 0
	}
	return sizeMessage(num, len(s))
}

// sizeBytes is sizeString for bytes.
func sizeBytes(num protowire.Number, b []byte) int {
	if len(b) == 0 {
		return 0
	}
	return sizeMessage(num, len(b))
}

// sizeUint returns the bytes of a number as a varint, with its tag; 0 for 0. Optional and oneof fields must not use it:
// they send zeros.
func sizeUint(num protowire.Number, v uint64) int {
	if v == 0 {
		return 0
	}
	return protowire.SizeTag(num) + protowire.SizeVarint(v)
}

// sizeMessage returns the bytes of a field whose body has the given size. Unlike the others it does not leave out empty
// bodies: an empty message that is present differs from an absent one.
func sizeMessage(num protowire.Number, body int) int {
	return protowire.SizeTag(num) + protowire.SizeBytes(body)
}

// appendString writes exactly what sizeString counts. The other appendX and sizeX are pairs in the same way.
func appendString(dst []byte, num protowire.Number, s string) []byte {
	if s == "" {
		return dst
	}
	return append(appendMessage(dst, num, len(s)), s...)
}

// appendBytes is appendString for bytes.
func appendBytes(dst []byte, num protowire.Number, b []byte) []byte {
	if len(b) == 0 {
		return dst
	}
	return append(appendMessage(dst, num, len(b)), b...)
}

// appendUint writes a varint field unless v is 0.
func appendUint(dst []byte, num protowire.Number, v uint64) []byte {
	if v == 0 {
		return dst
	}
	dst = protowire.AppendTag(dst, num, protowire.VarintType)
	return protowire.AppendVarint(dst, v)
}

// appendMessage writes the tag and length of a field. The caller appends a body of exactly this size.
func appendMessage(dst []byte, num protowire.Number, body int) []byte {
	dst = protowire.AppendTag(dst, num, protowire.BytesType)
	return protowire.AppendVarint(dst, uint64(body))
}

// validUTF8 replaces bytes that are not UTF-8 by U+FFFD. Go strings may hold any bytes, for example command output cut
// within a character, but every protobuf reader refuses a proto3 string that does.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
