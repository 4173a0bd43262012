package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/sdk/content"
)

// cursor walks over the fields of one protobuf message. Use it as `for c.next() { switch c.num … }` and return c.err at
// the end.
//
// The first error sticks and ends the walk, so accessors return zero values instead of errors. Decoded strings and JSON
// refer to the walked bytes, which must therefore not be a chunk's: it is reused, and one short entry would keep all of
// its 1 MiB alive. See own.
type cursor struct {
	rest   []byte
	num    protowire.Number
	typ    protowire.Type
	body   []byte
	number uint64
	err    error
}

// own returns a cursor over a copy of a message taken out of a stream. Everything decoded refers to this copy, so an
// entry costs one allocation for all its texts. No two fields share a byte, so writing to raw JSON in place never
// changes a string.
func own(msg []byte) cursor { return cursor{rest: bytes.Clone(msg)} }

// next moves to the next field. It returns false at the end and after an error. Fixed-size and group fields, which only
// a newer peer may send, are skipped.
func (c *cursor) next() bool {
	if len(c.rest) == 0 || c.err != nil {
		return false
	}
	tag, n := varint(c.rest)
	if n < 0 {
		return c.fail(n)
	}
	c.rest = c.rest[n:]
	c.body, c.number = nil, 0
	if c.num, c.typ = protowire.DecodeTag(tag); c.num < protowire.MinValidNumber {
		return c.failed(errFieldNumber)
	}
	switch c.typ {
	case protowire.BytesType:
		var size uint64
		if size, n = varint(c.rest); n > 0 {
			if size > uint64(len(c.rest)-n) {
				return c.failed(io.ErrUnexpectedEOF)
			}
			c.body = c.rest[n : n+int(size)]
			n += int(size)
		}
	case protowire.VarintType:
		c.number, n = varint(c.rest)
	default:
		n = protowire.ConsumeFieldValue(c.num, c.typ, c.rest)
	}
	if n < 0 {
		return c.fail(n)
	}
	c.rest = c.rest[n:]
	return true
}

// varint is protowire.ConsumeVarint, faster for one and two bytes, which nearly all tags and lengths of a history have.
func varint(b []byte) (v uint64, n int) {
	switch {
	case len(b) > 0 && b[0] < 0x80:
		return uint64(b[0]), 1
	case len(b) > 1 && b[1] < 0x80:
		return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
	}
	return protowire.ConsumeVarint(b)
}

func (c *cursor) fail(code int) bool { return c.failed(protowire.ParseError(code)) }

func (c *cursor) failed(err error) bool {
	c.err = fmt.Errorf("%w: %w", ErrMalformed, err)
	return false
}

var errFieldNumber = errors.New("invalid field number")

// want reports whether the field has the wire type that the protocol gives it, and records an error if not. Another
// type means a broken peer, not a newer one: protobuf never changes the type of a field number.
func (c *cursor) want(typ protowire.Type) bool {
	if c.typ != typ && c.err == nil {
		c.err = fmt.Errorf("%w: field %d has wire type %d, not %d", ErrMalformed, c.num, c.typ, typ)
	}
	return c.err == nil
}

func (c *cursor) message() []byte {
	if !c.want(protowire.BytesType) {
		return nil
	}
	return c.body
}

func (c *cursor) str() string {
	s, err := decodeString(c.message())
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%w: field %d", err, c.num)
	}
	return s
}

// raw does not validate the JSON. Package check does, and its error names the entry.
func (c *cursor) raw() json.RawMessage {
	return decodeRaw(c.message())
}

// int returns an unsigned number that must fit into an int, as all indices and counts of the protocol do. After an
// error the value is meaningless.
func (c *cursor) int() int {
	if c.want(protowire.VarintType) && c.number > math.MaxInt {
		c.err = fmt.Errorf("%w: field %d is %d, out of range", ErrMalformed, c.num, c.number)
	}
	return int(c.number)
}

// count returns how often the field num occurs in msg, up to the first unreadable byte. It sizes slices exactly: the
// extra pass over tags is cheap, and a history decoded into grown slices would waste up to half of its memory.
func count(msg []byte, num protowire.Number) int {
	n := 0
	for c := (cursor{rest: msg}); c.next(); {
		if c.num == num {
			n++
		}
	}
	return n
}

// decodeString returns b as a string without copying it; b is never written to again. Text that is not UTF-8 is an
// error, as proto3 demands.
func decodeString(b []byte) (string, error) {
	if !utf8.Valid(b) {
		return "", fmt.Errorf("%w: a string is not UTF-8", ErrMalformed)
	}
	return view(b), nil
}

func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// decodeRaw returns b without spare capacity, so an append copies. Empty becomes nil: absent JSON is nil in package
// content, which compares blocks by it.
func decodeRaw(b []byte) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	return b[:len(b):len(b)]
}

// DecodeEntry decodes a thresh.v1.Entry. Blocks of kinds from a newer host become [content.Opaque]: a strategy can keep
// what it does not understand. Errors wrap [ErrMalformed].
func DecodeEntry(msg []byte) (Entry, error) { return decodeEntry(bytes.Clone(msg)) }

func decodeEntry(msg []byte) (Entry, error) {
	var e Entry
	c := cursor{rest: msg}
	for c.next() {
		switch c.num {
		case entryID:
			e.ID = c.str()
		case entryTokens:
			e.Tokens = c.int()
		case entryContent:
			var err error
			if e.Content, err = decodeContent(c.message(), carryUnknown); err != nil {
				return Entry{}, err
			}
		}
	}
	return e, c.err
}

// DecodeContent decodes a thresh.v1.Content that a plugin sent. Errors wrap [ErrMalformed] and name the block.
func DecodeContent(msg []byte) (content.Content, error) {
	return decodeContent(bytes.Clone(msg), refuseUnknown)
}

// unknown decides about a block of a kind that only a newer peer knows. A plugin carries it. A host refuses it: it
// would store something that it can neither count nor send to a provider.
type unknown bool

const (
	carryUnknown  unknown = true
	refuseUnknown unknown = false
)

// decodeContent skips fields that it does not know. Blocks is empty but not nil unless NoBlocks is set (see content).
func decodeContent(msg []byte, u unknown) (content.Content, error) {
	var out content.Content
	var extra []content.Field
	out.Blocks = make([]content.Block, 0, count(msg, contentBlocks))
	c := cursor{rest: msg}
	for c.next() {
		switch c.num {
		case contentSpeaker:
			out.Speaker = content.SpeakerNamed(c.str())
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
			extra = append(extra, f)
		case contentNoBlocks:
			if c.int() != 0 && len(out.Blocks) == 0 {
				out.Blocks = nil
			}
		}
	}
	out.Extra = content.FieldsOf(extra...)
	return out, c.err
}

// decodeBlock decodes a thresh.v1.Block. The last of several kinds counts, as in a oneof. The body is decoded after the
// walk, because extra fields may come before or after it.
func decodeBlock(msg []byte, u unknown) (content.Block, error) {
	var (
		p     content.Parts
		body  []byte
		extra []content.Field
	)
	c := cursor{rest: msg}
	for c.next() {
		if k := content.KindNumbered(uint64(c.num)); k != nil {
			p.Kind, body = k, c.message()
		} else if c.num == blockExtra {
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
	case p.Kind == nil && u == carryUnknown:
		return unknownBlock(msg), nil
	case p.Kind == nil:
		return nil, fmt.Errorf("%w: a block of no kind that this version knows", ErrMalformed)
	case p.Type == "":
		p.Values[0] = view(body)
		return p.Block(), nil
	}
	if err := decodeValues(&p, body); err != nil {
		return nil, err
	}
	p.Extra = content.FieldsOf(extra...)
	return p.Block(), nil
}

// decodeValues decodes a block's message into its fields by number. One walk serves all kinds: they hold nothing but
// strings and raw JSON, numbered from 1 without gaps.
func decodeValues(p *content.Parts, msg []byte) error {
	c := cursor{rest: msg}
	for c.next() {
		switch i := int(c.num) - 1; {
		case i >= len(p.Fields): // a field from a newer peer
		case p.Fields[i].JSON():
			p.Values[i] = view(c.message())
		default:
			p.Values[i] = c.str()
		}
	}
	return c.err
}

// unknownBlock holds the block's bytes in base64, so two of them are equal only if their bytes are: answers refer to
// kept blocks by equality.
func unknownBlock(msg []byte) content.Block {
	const prefix, suffix = `{"type":"unknown","protobuf":"`, `"}`
	raw := append([]byte(prefix), base64.StdEncoding.EncodeToString(msg)...)
	return content.Opaque{JSON: append(raw, suffix...)}
}

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
