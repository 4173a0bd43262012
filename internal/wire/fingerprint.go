package wire

import (
	"hash/maphash"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Fingerprint returns a hash of all of c but its origin, and the bytes of its texts. It is valid within one process,
// and equal for entries that are written alike. It hashes the texts in place, in a small part of the time of writing
// them.
func Fingerprint(seed maphash.Seed, c *content.Content) (hash uint64, texts int) {
	f := fingerprint{seed: seed}
	f.text(string(c.Speaker))
	f.text(view(c.Metadata))
	f.fields(c.Extra)
	if c.Blocks == nil {
		f.number(1)
	}
	for _, b := range c.Blocks {
		p := content.Apart(b)
		f.number(uint64(p.Number))
		for i := range p.Fields {
			f.text(p.Values[i])
		}
		f.fields(p.Extra)
	}
	return f.sum, f.texts
}

type fingerprint struct {
	seed  maphash.Seed
	sum   uint64
	texts int
}

// number adds one value. The factor, that of FNV-1a, makes the order count.
func (f *fingerprint) number(n uint64) { f.sum = (f.sum ^ n) * 0x100000001b3 }

// text needs no hash for an empty field, which most are.
func (f *fingerprint) text(s string) {
	if s == "" {
		f.number(0)
		return
	}
	f.texts += len(s)
	f.number(maphash.String(f.seed, s))
}

func (f *fingerprint) fields(fields content.Fields) {
	all := fields.All()
	f.number(uint64(len(all)))
	for i := range all {
		f.text(all[i].Name)
		f.text(view(all[i].Value))
	}
}
