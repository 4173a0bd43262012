package bpe

import (
	"errors"
	"fmt"
	"math/bits"
)

// The format of a compiled vocabulary, numbers little-endian:
//
//	magic, numbers of ranks, tokens and entries         4 × 4 bytes
//	entries of the trie                                 4 bytes each
//	ranks of the tokens, in the order of their entries  3 bytes each
//	of each rank: the token's length in bytes (1), the two tokens it is merged from (3, 3), its longest prefix (3)
const (
	magic          = 0x31657074 // "tpe1"
	header         = 16
	record         = 10
	absent         = 1<<24 - 1 // of a prefix: there is none
	maxTokens      = none
	maxTokenLength = 255
	// Three tokens fit a word.
	tokenBits = 21
	none      = 1<<tokenBits - 1 // no token
)

// entry is a node of the trie: the byte that leads to it (9 bits, or noLabel), whether a token ends here (1 bit), and
// the base of its children (22 bits). Four bytes: a step through the trie touches one word of memory.
type entry uint32

const (
	noLabel    = 1<<9 - 1
	emptyEntry = entry(noLabel)
	ends       = entry(1 << 9)
	maxEntries = 1<<22 - 256
)

// newEntry expects label and base within their bits.
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
	trie   string         // of the compiled form, used as it is
	ids    []uint32       // of each entry, the token that ends there
	tokens []token        // by rank
	pairs  []pair         // hash table of the tokens, by the two tokens each is merged from
	single [256]uint32    // the tokens of single bytes, all below 256
	double [1 << 16]start // of two bytes, by the first times 256 plus the second
	// maybe has two bits set, in one word, for each pair in pairs, by hash. Most looked-up pairs are never merged; this
	// excludes all but a few in a hundred, and unlike pairs fits the processor's cache. Often only merges to low ranks
	// matter, so maybe has several filters: for the tokens below each of filterRanks. filter finds one by the number of
	// bits of the highest rank that matters.
	maybe  []uint64
	filter [32]filter
	runs   [256]run // of each byte
}

var filterRanks = [...]int{1 << 12, 1 << 14, 1 << 16, 1 << tokenBits}

// filter is where a filter begins in maybe, and its number of words, a power of two, less one.
type filter struct{ from, mask uint32 }

// word returns the place of a hash in maybe.
func (f filter) word(h uint32) uint32 { return f.from + h>>12&f.mask }

// start is where two bytes lead. Most searches need no other step.
type start struct {
	// tokens are three numbers. base is for the children of the two bytes in the trie. token is what they are merged
	// to, or none. lowest is the lowest rank of a token merged from the first byte and a token that begins with the
	// second, or none: before such a merge, the first byte stays alone.
	tokens uint64
	// third has a bit for each byte that follows them in the trie, by its lowest six bits.
	third uint64
}

// nothing is where the last byte of a text leads.
var nothing = newStart(0, none, none)

func newStart(base, token, lowest uint32) start {
	return start{tokens: uint64(base)<<(2*tokenBits) | uint64(token)<<tokenBits | uint64(lowest)}
}

func (d start) base() uint32   { return uint32(d.tokens >> (2 * tokenBits)) }
func (d start) token() uint32  { return uint32(d.tokens>>tokenBits) & none }
func (d start) lowest() uint32 { return uint32(d.tokens) & none }

// goesOn reports whether some token may begin with the two bytes and b.
func (d start) goesOn(b byte) bool { return d.third>>(b&63)&1 != 0 }

// run is the longest token that consists of one byte only, and how far the trie continues with this byte.
type run struct {
	token uint32
	depth int
}

// token is what counting needs of a token, in one place: three tokens of tokenBits each in either word.
type token struct {
	// parts are the two tokens it is merged from (of a single byte, itself twice), and its longest prefix, or none.
	parts uint64
	// ends are its length in bytes, and limits of its first and last byte: if that byte and its outer neighbour are
	// merged to a token below the limit, this happens before the byte becomes part of this token; none for a single
	// byte.
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

// pair is a slot of the hash table: two tokens and what they are merged to, 21 bits each. One word has it all, because
// counting hostile text mostly waits for uncached memory. 0 is empty: token 0 is a single byte.
type pair uint64

func newPair(left, right, merged uint32) pair {
	return pair(left)<<(2*tokenBits) | pair(right)<<tokenBits | pair(merged)
}

func (p pair) of(left, right uint32) bool { return (p^newPair(left, right, 0))>>tokenBits == 0 }

func (p pair) merged() uint32 { return uint32(p) & none }

// Load reads what [Compile] made, and refers to data. It takes a few milliseconds, on two processors if it can.
func Load(data string) (*Table, error) {
	if len(data) < header || u32(data, 0) != magic {
		return nil, errors.New("not a compiled vocabulary")
	}
	ranks, tokens, entries := int(u32(data, 4)), int(u32(data, 8)), int(u32(data, 12))
	// No more checks: the data is embedded in the program, and made by Compile.
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
			d := newStart(uint32(entries-256), none, none) // the base of a leaf: empty entries
			second := t.entry(first).base() ^ c
			if e := t.entry(second); e.label() == c {
				token := uint32(none)
				if e&ends != 0 {
					token = t.ids[second]
				}
				d = newStart(e.base(), token, none)
			}
			t.double[b<<8|c] = d
		}
	}
	heads := make([]uint32, ranks) // the first three bytes of each token, lowest first
	for b, token := range t.single {
		heads[token] = uint32(b)
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
		// Its parts have lower ranks, so their limits are known.
		first, last := t.tokens[left].first(), t.tokens[right].last()
		head := heads[left]
		// Otherwise left has the same three bytes, and they are known.
		if n := t.tokens[left].length(); n < 3 {
			head |= heads[right] << (8 * n) & (1<<24 - 1)
			d := &t.double[head&0xff<<8|head>>8&0xff]
			if length > 2 {
				d.third |= 1 << (head >> 16 & 63)
			}
			if n == 1 {
				d.tokens = min(d.tokens, d.tokens&^none|uint64(i)) // no other bits change: the lowest rank
				// Where merges of one rank overlap, the one further left comes first.
				first = uint32(i) + 1
			}
		}
		heads[i] = head
		if right < 1<<8 {
			last = uint32(i)
		}
		t.tokens[i] = newToken(left, right, prefix, length, first, last)
	}
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

// fillPairs makes pairs and maybe. It mostly waits for memory, so it runs beside the rest of Load.
func (t *Table) fillPairs(records string) {
	ranks := len(t.tokens)
	// Two thirds full: most searches end within a cache line.
	t.pairs = make([]pair, ranks+ranks/2+1)
	var filters [len(filterRanks)]filter
	words, width := uint32(0), 0
	for k, below := range filterRanks {
		n := uint32(1)
		for int(n) < min(ranks, below)/8 {
			n *= 2
		}
		filters[k] = filter{words, n - 1}
		words += n
		for ; width < bits.Len(uint(below)); width++ {
			t.filter[width] = filters[k]
		}
	}
	t.maybe = make([]uint64, words)
	for i := 1 << 8; i < ranks; i++ {
		r := records[i*record : (i+1)*record]
		left, right := u24(r[1:]), u24(r[4:])
		if r[0] == 0 || left|right < 1<<8 {
			continue // no token, or one of two bytes, which is in double
		}
		h := hash(left, right)
		for k := len(filters) - 1; k >= 0 && i < filterRanks[k]; k-- {
			t.maybe[filters[k].word(h)] |= marks(h)
		}
		slot := t.slot(h)
		for t.pairs[slot] != 0 {
			slot = t.after(slot)
		}
		t.pairs[slot] = newPair(left, right, uint32(i))
	}
}

// Ranks returns the rank of each token.
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

func u32(s string, i int) uint32 {
	s = s[i : i+4]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func u24(s string) uint32 { return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 }

// hash mixes both ranks; its lower bits choose the place in maybe, its upper bits the one in pairs.
func hash(left, right uint32) uint32 {
	h := (uint64(left)<<32 | uint64(right)) * 0x9e3779b97f4a7c15
	return uint32(h >> 32)
}

// marks returns the bits of a hash in a word of maybe.
func marks(h uint32) uint64 { return 1<<(h&63) | 1<<(h>>6&63) }

// slot returns where the search for a hash begins in pairs.
func (t *Table) slot(h uint32) int { return int(uint64(h) * uint64(len(t.pairs)) >> 32) }

func (t *Table) after(slot int) int {
	if slot++; slot == len(t.pairs) {
		return 0
	}
	return slot
}

func (t *Table) entry(i uint32) entry { return entry(u32(t.trie, int(i)*4)) }
