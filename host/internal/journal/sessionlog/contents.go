package sessionlog

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// large is the size in bytes from which a value is kept apart from the record, once for all records of the owner's
// sessions that hold it. Below it, a reference and a row would cost more than the copy. It is part of no format: a
// reader follows a reference whatever the length of the value.
const large = 16 << 10

// apart is added to the number of a field whose value is kept apart; the field then has the value's hash. Numbers 17 to
// 31 are reserved for hashes, so a field whose value may be large has a number below 16.
const apart = 16

// Writer collects the contents of the records that one append writes. The store takes the records and Contents in the
// same transaction: no record refers to a missing content. The zero value is ready to use, for one append.
type Writer struct {
	// Contents are the large values, each once, in the order in which they were met.
	Contents [][]byte
	known    map[store.Hash]bool
	whole    bool // keep nothing apart
}

// value writes a text that may be large, or its hash; [Reader.value] reverses that.
func (w *Writer) value(m *message, field protowire.Number, v string) {
	if w.whole || len(v) < large {
		m.string(field, v)
		return
	}
	content := []byte(v)
	// The same text may occur in several entries of one append, such as the result of a tool that ran twice.
	hash := store.HashOf(content)
	if !w.known[hash] {
		if w.known == nil {
			w.known = map[store.Hash]bool{}
		}
		w.known[hash] = true
		w.Contents = append(w.Contents, content)
	}
	m.bytes(field+apart, hash[:])
}

// Reader decodes records. Records refer to contents that have to be read first: see [Reader.Missing]. The zero value is
// ready to use.
type Reader struct {
	// Contents are the large values read so far.
	Contents map[store.Hash][]byte
	missing  []store.Hash
}

// Missing returns the contents that the records decoded so far refer to and that Contents lacks, and forgets them. If
// there are any, decode these records again once Contents has them.
func (r *Reader) Missing() []store.Hash {
	missing := r.missing
	r.missing = nil
	return missing
}

// value returns a field with its value. A content that Contents lacks leaves the field empty and is noted as missing:
// what is decoded then only serves to find out what else is missing.
func (r *Reader) value(f field) (field, error) {
	// Only bytes can be a hash. A number in this range is a field of a later version.
	if f.kind != protowire.BytesType || f.number <= apart || f.number >= 2*apart {
		return f, nil
	}
	if len(f.bytes) != len(store.Hash{}) {
		return f, damaged("field %d is no hash", f.number)
	}
	hash := store.Hash(f.bytes)
	content, ok := r.Contents[hash]
	if !ok {
		r.missing = append(r.missing, hash)
	} else if store.HashOf(content) != hash {
		return f, damaged("a large content of it, %x, is not what was written", hash[:8])
	}
	f.number, f.bytes = f.number-apart, content
	return f, nil
}
