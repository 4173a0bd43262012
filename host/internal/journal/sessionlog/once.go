package sessionlog

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Once is the key of an addition that takes place once, however often it is requested, and what was added under it.
// Both are hashes: keys have any length, and what they are compared with is not kept twice.
type Once struct{ Key, Content [16]byte }

// Done is an addition that took place under a key, and the answer to it.
type Done struct {
	Once
	Revision uint64
	Tokens   int
}

// OnceOf returns the identity of an addition of entries; nil without a key.
func OnceOf(key string, entries []content.Content) *Once {
	if key == "" {
		return nil
	}
	o, hash := Once{Key: short(sha256.Sum256([]byte(key)))}, sha256.New()
	w, m := Writer{whole: true}, message{}
	for _, c := range entries {
		m = m[:0]
		w.content(&m, c)
		_, _ = hash.Write(binary.AppendUvarint(nil, uint64(len(m))))
		_, _ = hash.Write(m)
	}
	copy(o.Content[:], hash.Sum(nil))
	return &o
}

// OnceOfTexts is OnceOf for an addition in another form.
func OnceOfTexts[T ~[]byte | ~string](key string, texts ...T) *Once {
	if key == "" {
		return nil
	}
	o, hash := Once{Key: short(sha256.Sum256([]byte(key)))}, sha256.New()
	for _, text := range texts {
		_, _ = hash.Write(binary.AppendUvarint(nil, uint64(len(text))))
		_, _ = hash.Write([]byte(text))
	}
	copy(o.Content[:], hash.Sum(nil))
	return &o
}

func short(sum [sha256.Size]byte) [16]byte { return [16]byte(sum[:16]) }

const (
	onceKey      = 1
	onceContent  = 2
	doneRevision = 3
	doneTokens   = 4
)

func (m *message) once(o *Once) {
	if o != nil {
		m.nested(addedOnce, func() { m.onceFields(*o) })
	}
}

func (m *message) onceFields(o Once) {
	m.bytes(onceKey, o.Key[:])
	m.bytes(onceContent, o.Content[:])
}

func (m *message) done(d Done) {
	m.nested(snapshotDone, func() {
		m.onceFields(d.Once)
		m.uint(doneRevision, d.Revision)
		m.uint(doneTokens, uint64(d.Tokens))
	})
}

func readDone(data []byte) (d Done, err error) {
	err = fields(data, func(f field) (err error) {
		switch f.number {
		case onceKey, onceContent:
			if len(f.bytes) != len(d.Key) {
				return damaged("a key has %d bytes", len(f.bytes))
			}
			if f.number == onceKey {
				d.Key = [16]byte(f.bytes)
			} else {
				d.Content = [16]byte(f.bytes)
			}
		case doneRevision:
			d.Revision = f.varint
		case doneTokens:
			d.Tokens, err = f.count()
		}
		return err
	})
	return d, err
}
