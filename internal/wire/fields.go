package wire

import (
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// encoder writes protobuf messages into a buffer. As proto3 says, a zero value is left out, except in a oneof. The
// first error sticks: what was written since is of no use.
type encoder struct {
	buf []byte
	err error
}

// str replaces bytes that are not UTF-8 by U+FFFD: Go strings may hold any bytes, for example command output cut within
// a character, but every protobuf reader refuses a proto3 string that does.
func (e *encoder) str(num protowire.Number, s string) {
	if s == "" {
		return
	}
	s = validUTF8(s)
	e.length(num, len(s))
	e.buf = append(e.buf, s...)
}

func (e *encoder) raw(num protowire.Number, b []byte) {
	if len(b) > 0 {
		e.present(num, b)
	}
}

// present writes a field of a oneof, which is there even if it is empty.
func (e *encoder) present(num protowire.Number, b []byte) {
	e.length(num, len(b))
	e.buf = append(e.buf, b...)
}

func (e *encoder) uint(num protowire.Number, v uint64) {
	if v != 0 {
		e.number(num, v)
	}
}

// number writes a number that is there even if it is 0: an optional one, or one of a oneof.
func (e *encoder) number(num protowire.Number, v uint64) {
	e.buf = protowire.AppendVarint(protowire.AppendTag(e.buf, num, protowire.VarintType), v)
}

func (e *encoder) length(num protowire.Number, body int) {
	e.buf = protowire.AppendVarint(protowire.AppendTag(e.buf, num, protowire.BytesType), uint64(body))
}

// lengthRoom is how many bytes are left for the length of a message before its body is written: enough for 16 KiB.
const lengthRoom = 2

// open begins an embedded message; shut ends it and takes what open returned. An empty message is written, because it
// differs from an absent one.
func (e *encoder) open(num protowire.Number) (begin int) {
	e.buf = protowire.AppendTag(e.buf, num, protowire.BytesType)
	return e.room()
}

func (e *encoder) room() (begin int) {
	e.buf = append(e.buf, make([]byte, lengthRoom)...)
	return len(e.buf)
}

// shut writes the length in front of the body, which moves if the length does not take exactly the room that was left:
// counting every message before it is written would take longer than moving a few.
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

func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
