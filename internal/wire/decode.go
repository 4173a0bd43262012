package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/sdk/content"
)

// cursor walks over the fields of one message. Decoded values are copies: a history must not hold on to the chunks that
// it came in.
type cursor struct {
	rest   []byte
	num    protowire.Number
	typ    protowire.Type
	body   []byte // of a BytesType field
	number uint64 // of a VarintType field
	err    error
}

// next moves to the next field; false at the end or after an error.
func (c *cursor) next() bool {
	if len(c.rest) == 0 || c.err != nil {
		return false
	}
	num, typ, n := protowire.ConsumeTag(c.rest)
	if n < 0 {
		return c.fail(n)
	}
	c.rest = c.rest[n:]
	c.num, c.typ, c.body, c.number = num, typ, nil, 0
	switch typ {
	case protowire.BytesType:
		c.body, n = protowire.ConsumeBytes(c.rest)
	case protowire.VarintType:
		c.number, n = protowire.ConsumeVarint(c.rest)
	default:
		n = protowire.ConsumeFieldValue(num, typ, c.rest)
	}
	if n < 0 {
		return c.fail(n)
	}
	c.rest = c.rest[n:]
	return true
}

// fail remembers a parse error and ends the walk.
func (c *cursor) fail(code int) bool {
	c.err = fmt.Errorf("%w: %w", ErrMalformed, protowire.ParseError(code))
	return false
}

// want reports whether the field has the wire type that the protocol gives it.
func (c *cursor) want(typ protowire.Type) bool {
	if c.typ != typ && c.err == nil {
		c.err = fmt.Errorf("%w: field %d has wire type %d, not %d", ErrMalformed, c.num, c.typ, typ)
	}
	return c.err == nil
}

// message returns the body of the field, which is an embedded message or bytes. It is valid as long as the input is.
func (c *cursor) message() []byte {
	if !c.want(protowire.BytesType) {
		return nil
	}
	return c.body
}

// str returns a copy of the field, which is a string.
func (c *cursor) str() string {
	s, err := decodeString(c.message())
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%w: field %d", err, c.num)
	}
	return s
}

// raw returns a copy of the field, which is JSON. It is not validated: strategies may send JSON that is none, and the
// check of answers refuses it.
func (c *cursor) raw() json.RawMessage {
	return decodeRaw(c.message())
}

// int returns the field, which is an unsigned number that must fit into an int.
func (c *cursor) int() int {
	if c.want(protowire.VarintType) && c.number > math.MaxInt {
		c.err = fmt.Errorf("%w: field %d is %d, out of range", ErrMalformed, c.num, c.number)
	}
	return int(c.number)
}

// count returns how often the field num stands in msg, as far as msg can be read.
func count(msg []byte, num protowire.Number) int {
	n := 0
	for c := (cursor{rest: msg}); c.next(); {
		if c.num == num {
			n++
		}
	}
	return n
}

// decodeString copies b, and refuses what a proto3 string may not hold.
func decodeString(b []byte) (string, error) {
	if !utf8.Valid(b) {
		return "", fmt.Errorf("%w: a string is not UTF-8", ErrMalformed)
	}
	return string(b), nil
}

// decodeRaw copies b. Empty is nil, as in package content.
func decodeRaw(b []byte) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	return bytes.Clone(b)
}

// DecodeEntry decodes a thresh.v1.Entry. Errors wrap [ErrMalformed].
func DecodeEntry(msg []byte) (Entry, error) {
	var e Entry
	c := cursor{rest: msg}
	for c.next() {
		switch c.num {
		case 1:
			e.ID = c.str()
		case 2:
			e.Tokens = c.int()
		case 3:
			var err error
			if e.Content, err = decodeContent(c.message(), carryUnknown); err != nil {
				return Entry{}, err
			}
		}
	}
	return e, c.err
}

// DecodeContent decodes a thresh.v1.Content that a plugin sent. Errors wrap [ErrMalformed] and name the block. A block
// of an unknown kind is an error here: the host could not keep what it cannot read.
func DecodeContent(msg []byte) (content.Content, error) { return decodeContent(msg, refuseUnknown) }

// unknown says what becomes of a block of a kind from a newer peer.
type unknown bool

const (
	carryUnknown  unknown = true
	refuseUnknown unknown = false
)

// decodeContent decodes a thresh.v1.Content. Fields that it does not know are from a newer peer and skipped.
func decodeContent(msg []byte, u unknown) (content.Content, error) {
	var out content.Content
	out.Blocks = make([]content.Block, 0, count(msg, contentBlocks))
	c := cursor{rest: msg}
	for c.next() {
		switch c.num {
		case contentSpeaker:
			out.Speaker = speaker(c.str())
		case contentBlocks:
			b, err := decodeBlock(c.message(), u)
			if err != nil {
				return content.Content{}, fmt.Errorf("block %d: %w", len(out.Blocks), err)
			}
			out.Blocks = append(out.Blocks, b)
		case contentMetadata:
			out.Metadata = c.raw()
		case contentExtra:
			f, err := decodeField(c.message())
			if err != nil {
				return content.Content{}, err
			}
			out.Extra = append(out.Extra, f)
		case contentNoBlocks:
			if c.int() != 0 && len(out.Blocks) == 0 {
				out.Blocks = nil
			}
		}
	}
	return out, c.err
}

// speaker returns the constant for a known speaker, so that histories do not hold thousands of copies of "tool".
func speaker(s string) content.Speaker {
	switch s {
	case string(content.AI):
		return content.AI
	case string(content.Human):
		return content.Human
	case string(content.Tool):
		return content.Tool
	}
	return content.Speaker(s)
}

// decodeBlock decodes a thresh.v1.Block. Of several kinds in one message, the last counts, as in a oneof.
func decodeBlock(msg []byte, u unknown) (content.Block, error) {
	var (
		kind  protowire.Number
		body  []byte
		extra content.Fields
	)
	c := cursor{rest: msg}
	for c.next() {
		switch c.num {
		case blockText, blockToolCall, blockToolResponse, blockMedia, blockThinking, blockCode, blockOpaque:
			kind, body = c.num, c.message()
		case blockExtra:
			f, err := decodeField(c.message())
			if err != nil {
				return nil, err
			}
			extra = append(extra, f)
		}
	}
	switch {
	case c.err != nil:
		return nil, c.err
	case kind == 0 && u == carryUnknown:
		return unknownBlock(msg), nil
	case kind == 0:
		return nil, fmt.Errorf("%w: a block of no kind that this version knows", ErrMalformed)
	case kind == blockOpaque:
		return content.Opaque{JSON: decodeRaw(body)}, nil
	}
	v, err := decodeValues(kind, body)
	if err != nil {
		return nil, err
	}
	return newBlock(kind, v, extra), nil
}

// rawField says which field of a block's message is raw JSON; the others are strings.
func rawField(kind, num protowire.Number) bool {
	return num == 3 && (kind == blockToolCall || kind == blockToolResponse)
}

// decodeValues decodes the message of a block of the given kind.
func decodeValues(kind protowire.Number, msg []byte) (values, error) {
	var v values
	c := cursor{rest: msg}
	for c.next() {
		if c.num > protowire.Number(len(v)) {
			continue // a field from a newer peer
		}
		if rawField(kind, c.num) {
			v[c.num-1].raw = c.raw()
		} else {
			v[c.num-1].str = c.str()
		}
	}
	return v, c.err
}

// unknownBlock stands for a block of a kind from a newer peer. Two of them are equal only if their bytes are, so that
// an answer names the right one as kept.
func unknownBlock(msg []byte) content.Block {
	const prefix, suffix = `{"type":"unknown","protobuf":"`, `"}`
	raw := append([]byte(prefix), base64.StdEncoding.EncodeToString(msg)...)
	return content.Opaque{JSON: append(raw, suffix...)}
}

// decodeField decodes a thresh.v1.Field: a field of the native form that this version does not know.
func decodeField(msg []byte) (content.Field, error) {
	var f content.Field
	c := cursor{rest: msg}
	for c.next() {
		switch c.num {
		case 1:
			f.Name = c.str()
		case 2:
			f.Value = c.raw()
		}
	}
	return f, c.err
}
