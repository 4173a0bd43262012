package sessionlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/failure"
)

// version is the form of records that this program writes. It reads this one and all before it. A new field does not
// raise it, because readers skip what they do not know.
const version = 1

var (
	ErrNewer = failure.New(failure.Store, "written by a newer version of thresh: use that version")
	// ErrDamaged: the record cannot have been written by this program.
	ErrDamaged = failure.New(failure.Store, "the record is damaged")
)

func damaged(format string, values ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, values...))
}

// message is a message that is being written, without fields that have the zero value unless a comment says otherwise.
// There are no generated types: every value would be copied into them first.
type message []byte

func (m *message) uint(field protowire.Number, v uint64) {
	if v != 0 {
		*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
	}
}

func (m *message) bool(field protowire.Number, v bool) { m.uint(field, protowire.EncodeBool(v)) }

// int zigzags: a plain varint of -1 takes ten bytes.
func (m *message) int(field protowire.Number, v int64) { m.uint(field, protowire.EncodeZigZag(v)) }

// float loses nothing: a calibration is the same after a restart.
func (m *message) float(field protowire.Number, v float64) {
	if v != 0 {
		*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), math.Float64bits(v))
	}
}

func (m *message) string(field protowire.Number, v string) {
	if v != "" {
		*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), v)
	}
}

// bytes writes the field even if v is empty: an empty message or list says something.
func (m *message) bytes(field protowire.Number, v []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), v)
}

// nested writes a message as a field. write appends its fields to m itself, so a value of megabytes is not copied from
// message to message, only moved by the few bytes of its length.
func (m *message) nested(field protowire.Number, write func()) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	start := len(*m)
	write()
	end := len(*m)
	*m = protowire.AppendVarint(*m, uint64(end-start)) // makes room, and is copied to the beginning
	var length [binary.MaxVarintLen64]byte
	n := copy(length[:], (*m)[end:])
	copy((*m)[start+n:], (*m)[start:end])
	copy((*m)[start:], length[:n])
}

// A record begins with its version, which can be read without knowing the fields behind it. The first field is a
// checksum of all others and of the kind, which is outside of the record.
const (
	checksumField = 15
	checksumTag   = checksumField<<3 | byte(protowire.Fixed32Type)
	checked       = 1 + 1 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli) // the one that processors compute

func checksum(kind store.Kind, fields []byte) uint32 {
	return crc32.Update(uint32(kind), castagnoli, fields)
}

func record() message { return message{version, checksumTag, 0, 0, 0, 0} }

func (m message) sealed(kind store.Kind) []byte {
	binary.LittleEndian.PutUint32(m[2:], checksum(kind, m[checked:]))
	return m
}

// body returns the fields of a record after checking its checksum. The error is [ErrNewer] or [ErrDamaged].
func body(kind store.Kind, data []byte) ([]byte, error) {
	switch {
	case len(data) == 0:
		return nil, damaged("it is empty")
	case data[0] == 0:
		return nil, damaged("it has no version")
	case data[0] > version:
		return nil, fmt.Errorf("a record of the session was %w", ErrNewer)
	case len(data) < checked:
		return nil, damaged("it is cut off")
	case data[1] != checksumTag || binary.LittleEndian.Uint32(data[2:]) != checksum(kind, data[checked:]):
		return nil, damaged("its checksum does not fit")
	}
	return data[checked:], nil
}

// field is one field of a message that is being read. It shares the record's memory. kind tells which of varint and
// bytes is set.
type field struct {
	number protowire.Number
	kind   protowire.Type
	varint uint64
	bytes  []byte
}

// fields calls each for the fields of a message, in their order, up to its first error. A field may occur more than
// once: lists are repeated fields.
func fields(m []byte, each func(f field) error) error {
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			return damaged("a field has no number")
		}
		m = m[n:]
		f := field{number: number, kind: kind}
		switch kind {
		case protowire.VarintType:
			f.varint, n = protowire.ConsumeVarint(m)
		case protowire.Fixed64Type:
			f.varint, n = protowire.ConsumeFixed64(m)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(m)
		default: // of a later version
			n = protowire.ConsumeFieldValue(number, kind, m)
		}
		if n < 0 {
			return damaged("field %d is cut off", number)
		}
		m = m[n:]
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}

// raw returns the field's bytes, nil if there are none. Appending to them copies.
func (f field) raw() []byte {
	if len(f.bytes) == 0 {
		return nil
	}
	return f.bytes[:len(f.bytes):len(f.bytes)]
}

func (f field) string() string { return string(f.bytes) }

func (f field) bool() bool { return f.varint != 0 }

func (f field) float() float64 { return math.Float64frombits(f.varint) }

func (f field) int() int64 { return protowire.DecodeZigZag(f.varint) }

// count refuses numbers that cannot have been written and would overflow in sums.
func (f field) count() (int, error) {
	if f.varint > math.MaxInt32 {
		return 0, damaged("field %d is %d", f.number, f.varint)
	}
	return int(f.varint), nil
}

func (m *message) counts(field protowire.Number, list []int32) {
	if len(list) == 0 {
		return
	}
	m.nested(field, func() {
		for _, n := range list {
			*m = protowire.AppendVarint(*m, protowire.EncodeZigZag(int64(n)))
		}
	})
}

// counts keeps a damaged number from being cut to 32 bits and taken for another.
func (f field) counts() ([]int32, error) {
	list := make([]int32, 0, len(f.bytes))
	for m := f.bytes; len(m) > 0; {
		v, n := protowire.ConsumeVarint(m)
		if n < 0 {
			return nil, damaged("list %d is cut off", f.number)
		}
		m = m[n:]
		value := protowire.DecodeZigZag(v)
		if value < math.MinInt32 || value > math.MaxInt32 {
			return nil, damaged("list %d holds %d", f.number, value)
		}
		list = append(list, int32(value))
	}
	return list, nil
}
