package wire

import (
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// What proto3 says about encoding fields: a zero value is left out, except in a oneof. Sizes are needed before bytes,
// because a message stands behind its length.

// sizeString returns what a string field takes, with its tag and length.
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

// sizeUint returns what a number takes as a varint, with its tag.
func sizeUint(num protowire.Number, v uint64) int {
	if v == 0 {
		return 0
	}
	return protowire.SizeTag(num) + protowire.SizeVarint(v)
}

// sizeMessage returns what a field with a body of the given size takes.
func sizeMessage(num protowire.Number, body int) int {
	return protowire.SizeTag(num) + protowire.SizeBytes(body)
}

// appendString writes what sizeString counts; the other appends go with their sizes alike.
func appendString(dst []byte, num protowire.Number, s string) []byte {
	if s == "" {
		return dst
	}
	return append(appendMessage(dst, num, len(s)), s...)
}

func appendBytes(dst []byte, num protowire.Number, b []byte) []byte {
	if len(b) == 0 {
		return dst
	}
	return append(appendMessage(dst, num, len(b)), b...)
}

func appendUint(dst []byte, num protowire.Number, v uint64) []byte {
	if v == 0 {
		return dst
	}
	dst = protowire.AppendTag(dst, num, protowire.VarintType)
	return protowire.AppendVarint(dst, v)
}

// appendMessage opens a field with a body of the given size; the caller appends the body.
func appendMessage(dst []byte, num protowire.Number, body int) []byte {
	dst = protowire.AppendTag(dst, num, protowire.BytesType)
	return protowire.AppendVarint(dst, uint64(body))
}

// validUTF8 replaces what is not UTF-8: a proto3 string with such bytes would be refused by every reader.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
