package bpe

import (
	"errors"
	"fmt"
)

// The format of a compiled vocabulary, numbers little-endian:
//
//	magic, numbers of ranks, tokens and entries         4 × 4 bytes
//	entries of the trie                                 4 bytes each
//	ranks of the tokens, in the order of their entries  3 bytes each
//	of each rank: the token's length in bytes (1), the two tokens it is merged from (3, 3), its longest prefix (3)
const (
	// It changes with the format.
	magic          = 0x31657074 // "tpe1"
	header         = 16
	record         = 10
	maxTokens      = 1 << 21
	maxTokenLength = 255
	none           = 1<<24 - 1 // no token
)

// entry is a node of the trie: the byte that leads to it (9 bits, or noLabel), whether a token ends here (1 bit), and
// the base of its children (22 bits). Four bytes, so that a step through the trie touches one word of memory.
type entry uint32

const (
	noLabel    = 1<<9 - 1
	emptyEntry = entry(noLabel)
	ends       = entry(1 << 9)
	maxEntries = 1<<22 - 256
)

// newEntry packs the three; the caller keeps label and base within their bits.
func newEntry(label, base int, end bool) entry {
	e := entry(label) | entry(base)<<10
	if end {
		e |= ends
	}
	return e
}

func (e entry) label() uint32 { return uint32(e) & noLabel }
func (e entry) base() uint32  { return uint32(e) >> 10 }

// Table is a vocabulary, ready to count with. It is read-only, and safe for concurrent use.
type Table struct {
	trie  string   // of the compiled form: it is used as it is
	ids   []uint32 // of each entry, the token that ends there
	parts []parts  // of each token
	sizes []size   // of each token
	pairs []uint32 // hash table of the tokens, by the two tokens each is merged from
	// The number of slots is a power of two; mask is one below it.
	mask uint32
	// maybe has a bit set for each pair in pairs, by hash. Most pairs that are asked for are never merged. This says so
	// for nine in ten of them, and fits the processor's cache, which pairs does not.
	maybe []uint64
	runs  [256]run // of each byte
}

// run tells of the tokens that consist of one byte only: the longest of them, and how far the trie goes on with this
// byte. Both are the same for most bytes.
type run struct {
	token uint32
	depth int
}

// parts are the two tokens that a token is merged from; of a single byte, itself twice.
type parts struct{ left, right uint32 }

// size is a token's length in bytes (8 bits) and the longest other token that it begins with, or none (24 bits).
type size uint32

func (s size) length() int    { return int(s & 0xff) }
func (s size) prefix() uint32 { return uint32(s) >> 8 }

// Load reads what [Compile] made. The table refers to data. Loading costs one pass over it, a few milliseconds.
func Load(data string) (*Table, error) {
	if len(data) < header || u32(data, 0) != magic {
		return nil, errors.New("not a compiled vocabulary")
	}
	ranks, tokens, entries := int(u32(data, 4)), int(u32(data, 8)), int(u32(data, 12))
	// The only check: the data is embedded in the program, and made by Compile.
	if want := header + 4*entries + 3*tokens + record*ranks; len(data) != want {
		return nil, fmt.Errorf("a compiled vocabulary of %d bytes; its header says %d", len(data), want)
	}
	t := &Table{
		trie: data[header : header+4*entries], ids: make([]uint32, entries),
		parts: make([]parts, ranks), sizes: make([]size, ranks),
	}
	rest := data[header+4*entries:]
	for i := range t.ids {
		if t.entry(uint32(i))&ends != 0 {
			t.ids[i] = u24(rest)
			rest = rest[3:]
		}
	}
	slots := 1
	// At most half full, so that a search ends after a step or two.
	for slots < 2*ranks {
		slots *= 2
	}
	t.pairs, t.mask, t.maybe = make([]uint32, slots), uint32(slots-1), make([]uint64, max(1, slots/16))
	for i := range t.parts {
		r := rest[i*record : (i+1)*record]
		p := parts{left: u24(r[1:]), right: u24(r[4:])}
		t.parts[i], t.sizes[i] = p, size(r[0])|size(u24(r[7:]))<<8
		// Single bytes are merged from nothing, and empty records are no tokens.
		if r[0] <= 1 {
			continue
		}
		h := hash(p.left, p.right)
		t.maybe[h/64&uint32(len(t.maybe)-1)] |= 1 << (h % 64)
		slot := h >> 3 & t.mask
		for t.pairs[slot] != 0 {
			slot = (slot + 1) & t.mask
		}
		t.pairs[slot] = uint32(i) + 1
	}
	// Follows the byte through the trie as far as it goes.
	for b := range t.runs {
		r := &t.runs[b]
		for e := t.entry(0); ; r.depth++ {
			at := e.base() ^ uint32(b)
			if e = t.entry(at); e.label() != uint32(b) {
				break
			}
			if e&ends != 0 {
				r.token = t.ids[at]
			}
		}
	}
	return t, nil
}

// Ranks returns the vocabulary that the table was compiled from: the rank of each token.
func (t *Table) Ranks() map[string]int {
	ranks := make(map[string]int, len(t.parts))
	var walk func(at uint32, token []byte)
	walk = func(at uint32, token []byte) {
		e := t.entry(at)
		if e&ends != 0 {
			ranks[string(token)] = int(t.ids[at])
		}
		for b := range uint32(256) {
			if next := e.base() ^ b; t.entry(next).label() == b {
				walk(next, append(token, byte(b)))
			}
		}
	}
	walk(0, nil)
	return ranks
}

// u32 and u24 read numbers of the format at any position.
func u32(s string, i int) uint32 {
	s = s[i : i+4]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func u24(s string) uint32 { return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 }

// hash mixes both ranks; its lower bits choose the place in maybe, the bits above them that in pairs.
func hash(left, right uint32) uint32 {
	h := (uint64(left)<<32 | uint64(right)) * 0x9e3779b97f4a7c15
	return uint32(h >> 32)
}

func (t *Table) entry(i uint32) entry { return entry(u32(t.trie, int(i)*4)) }
