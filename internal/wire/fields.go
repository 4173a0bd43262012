package wire

import (
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// encoder writes protobuf messages, field by field, into a buffer. What proto3 says about encoding fields: a zero value
// is left out, except in a oneof. The first error sticks: what was written since is of no use.
type encoder struct {
	buf []byte
	err error
}

// str writes a string field. Bytes that are not UTF-8 become U+FFFD: Go strings may hold any bytes, for example command
// output cut within a character, but every protobuf reader refuses a proto3 string that does.
func (e *encoder) str(num protowire.Number, s string) {
	if s == "" {
		return
	}
	s = validUTF8(s)
	e.length(num, len(s))
	e.buf = append(e.buf, s...)
}

// raw writes a field of bytes.
func (e *encoder) raw(num protowire.Number, b []byte) {
	if len(b) > 0 {
		e.present(num, b)
	}
}

// present writes a field of bytes in a oneof: it is there also when it is empty.
func (e *encoder) present(num protowire.Number, b []byte) {
	e.length(num, len(b))
	e.buf = append(e.buf, b...)
}

// uint writes a number as a varint, unless it is 0.
func (e *encoder) uint(num protowire.Number, v uint64) {
	if v != 0 {
		e.number(num, v)
	}
}

// number writes a number that is there also when it is 0: an optional one, or one of a oneof.
func (e *encoder) number(num protowire.Number, v uint64) {
	e.buf = protowire.AppendVarint(protowire.AppendTag(e.buf, num, protowire.VarintType), v)
}

// length writes the tag of a field whose body follows, and the body's length.
func (e *encoder) length(num protowire.Number, body int) {
	e.buf = protowire.AppendVarint(protowire.AppendTag(e.buf, num, protowire.BytesType), uint64(body))
}

// lengthRoom is how many bytes are left for the length of a message before its body is written: enough for 16 KiB, and
// more than is needed for less than 128 bytes.
const lengthRoom = 2

// open begins an embedded message; shut ends it and takes what open returned. An empty one that is present differs from
// an absent one, so that it is written.
func (e *encoder) open(num protowire.Number) (begin int) {
	e.buf = protowire.AppendTag(e.buf, num, protowire.BytesType)
	return e.room()
}

// room leaves room for the length of what follows.
func (e *encoder) room() (begin int) {
	e.buf = append(e.buf, make([]byte, lengthRoom)...)
	return len(e.buf)
}

// shut writes the length of what stands behind begin in front of it. The body is moved if its length does not take
// exactly the room that was left: counting every message before it is written would take longer than moving a few.
func (e *encoder) shut(begin int) {
	body := len(e.buf) - begin
	at := begin - lengthRoom
	if n := protowire.SizeVarint(uint64(body)); n != lengthRoom {
		e.buf = append(e.buf, make([]byte, max(0, n-lengthRoom))...)
		copy(e.buf[at+n:], e.buf[begin:begin+body])
		e.buf = e.buf[:at+n+body]
	}
	protowire.AppendVarint(e.buf[:at], uint64(body))
}

// validUTF8 replaces bytes that are not UTF-8 by U+FFFD.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
