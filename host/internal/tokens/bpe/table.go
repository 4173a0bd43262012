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
	absent         = 1<<24 - 1 // of a prefix: there is none
	maxTokens      = none
	maxTokenLength = 255
	// One word of memory holds three tokens.
	tokenBits = 21
	none      = 1<<tokenBits - 1 // no token
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
	trie   string         // of the compiled form: it is used as it is
	ids    []uint32       // of each entry, the token that ends there
	tokens []token        // by rank
	pairs  []pair         // hash table of the tokens, by the two tokens each is merged from
	single [256]uint32    // the tokens of single bytes, which are those below 256
	double [1 << 16]start // of two bytes, by the first times 256 plus the second
	// maybe has two bits set for each pair in pairs, by hash, in one word. Most pairs that are asked for are never
	// merged. This says so for all but a few in a hundred of them, and fits the processor's cache, which pairs does
	// not.
	maybe []uint64
	runs  [256]run // of each byte
}

// start is where two bytes lead to: the token that they are merged to, or none, and the base of their children in the
// trie. Most searches need no other step.
type start struct{ token, base uint32 }

// run tells of the tokens that consist of one byte only: the longest of them, and how far the trie goes on with this
// byte. Both are the same for most bytes.
type run struct {
	token uint32
	depth int
}

// token tells of a token what counting needs, in one place of memory: three tokens of tokenBits each in either word.
type token struct {
	// parts are the two tokens that it is merged from (of a single byte, itself twice), and the longest other token
	// that it begins with, or none.
	parts uint64
	// ends are its length in bytes, and the limits of its first and of its last byte: if the byte and the one that
	// stands next to it outside of the token are merged to a token below the limit, then this happens before the byte
	// becomes a part of this token. Of a single byte, the limits are none.
	ends uint64
}

func newToken(left, right, prefix uint32, length int, first, last uint32) token {
	return token{
		parts: uint64(left)<<(2*tokenBits) | uint64(right)<<tokenBits | uint64(prefix),
		ends:  uint64(length)<<(2*tokenBits) | uint64(first)<<tokenBits | uint64(last),
	}
}

func (t token) left() uint32   { return uint32(t.parts >> (2 * tokenBits)) }
func (t token) right() uint32  { return uint32(t.parts>>tokenBits) & none }
func (t token) prefix() uint32 { return uint32(t.parts) & none }
func (t token) length() int    { return int(t.ends >> (2 * tokenBits)) }
func (t token) first() uint32  { return uint32(t.ends>>tokenBits) & none }
func (t token) last() uint32   { return uint32(t.ends) & none }

// pair is a slot of the hash table: two tokens and the one that they are merged to, 21 bits each, which is enough for
// maxTokens. One word tells whether a slot is the right one and what is in it, because memory that is not in the
// processor's cache is what counting hostile text waits for. 0 is empty: the token 0 is a single byte, as all that are
// merged from nothing.
type pair uint64

func newPair(left, right, merged uint32) pair {
	return pair(left)<<(2*tokenBits) | pair(right)<<tokenBits | pair(merged)
}

// of reports whether the slot is that of two tokens.
func (p pair) of(left, right uint32) bool { return (p^newPair(left, right, 0))>>tokenBits == 0 }

func (p pair) merged() uint32 { return uint32(p) & none }

// Load reads what [Compile] made. The table refers to data. Loading takes a few milliseconds, on two processors if there
// are as many.
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
		tokens: make([]token, ranks),
	}
	records := data[len(data)-record*ranks:]
	filled := make(chan struct{})
	go func() {
		defer close(filled)
		t.fillPairs(records)
	}()
	rest := data[header+4*entries:]
	for i := range t.ids {
		if t.entry(uint32(i))&ends != 0 {
			t.ids[i] = u24(rest)
			rest = rest[3:]
		}
	}
	for b := range uint32(256) {
		first := t.entry(0).base() ^ b
		t.single[b] = t.ids[first]
		for c := range uint32(256) {
			d := &t.double[b<<8|c]
			d.token, d.base = none, uint32(entries-256) // the base of a leaf: empty entries
			second := t.entry(first).base() ^ c
			if e := t.entry(second); e.label() == c {
				d.base = e.base()
				if e&ends != 0 {
					d.token = t.ids[second]
				}
			}
		}
	}
	for i := range t.tokens {
		r := records[i*record : (i+1)*record]
		left, right, prefix, length := u24(r[1:]), u24(r[4:]), u24(r[7:])&none, int(r[0])
		if i < len(t.single) { // single bytes are merged from nothing
			t.tokens[i] = newToken(left, right, prefix, length, none, none)
			continue
		}
		if length == 0 { // an empty record is no token
			continue
		}
		// The ranks of its parts are lower: their limits are known.
		first, last := t.tokens[left].first(), t.tokens[right].last()
		if left < 1<<8 {
			first = uint32(i) + 1 // where merges of one rank overlap, the one further left comes first
		}
		if right < 1<<8 {
			last = uint32(i)
		}
		t.tokens[i] = newToken(left, right, prefix, length, first, last)
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
	<-filled
	return t, nil
}

// fillPairs makes pairs and maybe from the records of the ranks. It waits for memory most of its time, so that it runs
// beside the rest of Load.
func (t *Table) fillPairs(records string) {
	ranks := len(t.tokens)
	// Two thirds full, so that most searches end within a line of the processor's cache.
	t.pairs = make([]pair, ranks+ranks/2+1)
	words := 1
	for words < ranks/8 {
		words *= 2
	}
	t.maybe = make([]uint64, words)
	for i := 1 << 8; i < ranks; i++ {
		r := records[i*record : (i+1)*record]
		left, right := u24(r[1:]), u24(r[4:])
		if r[0] == 0 || left|right < 1<<8 {
			continue // no token, or one of two bytes, which is in double
		}
		h := hash(left, right)
		t.maybe[t.word(h)] |= bits(h)
		slot := t.slot(h)
		for t.pairs[slot] != 0 {
			slot = t.after(slot)
		}
		t.pairs[slot] = newPair(left, right, uint32(i))
	}
}

// Ranks returns the vocabulary that the table was compiled from: the rank of each token.
func (t *Table) Ranks() map[string]int {
	ranks := make(map[string]int, len(t.tokens))
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

// hash mixes both ranks; its lower bits choose the place in maybe, its upper bits that in pairs.
func hash(left, right uint32) uint32 {
	h := (uint64(left)<<32 | uint64(right)) * 0x9e3779b97f4a7c15
	return uint32(h >> 32)
}

// word and bits return where the bits of a hash are in maybe.
func (t *Table) word(h uint32) uint32 { return h >> 12 & uint32(len(t.maybe)-1) }
func bits(h uint32) uint64            { return 1<<(h&63) | 1<<(h>>6&63) }

// slot returns where the search for a hash begins in pairs, after the next slot.
func (t *Table) slot(h uint32) int { return int(uint64(h) * uint64(len(t.pairs)) >> 32) }

func (t *Table) after(slot int) int {
	if slot++; slot == len(t.pairs) {
		return 0
	}
	return slot
}

func (t *Table) entry(i uint32) entry { return entry(u32(t.trie, int(i)*4)) }
