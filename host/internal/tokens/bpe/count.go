package bpe

import (
	"context"
	"math/bits"
)

// maxRemembered is the longest piece in bytes whose count is remembered: with its length, two machine words.
const maxRemembered = 15

// pieceBits is the logarithm of how many pieces are remembered. With 14 instead of 12, prose and code take an eighth
// less time; the 256 KiB still fit a processor's second cache.
const pieceBits = 14

// piece is a short piece as a key: its bytes, their number in the top half-byte of high, and its count below that.
type piece struct{ low, high uint64 }

const (
	pieceLength = 60 // shifts of the length and the count in high
	pieceCount  = 56
	countMask   = 0xf << pieceCount
)

// Work is reused memory for counting, for one piece at a time and one table only. The zero value is ready.
type Work struct {
	stack []placed               // the tokens found so far
	dead  []uint64               // a bit for each place from which no valid sequence of tokens continues
	run   struct{ from, to int } // a run of one byte that the search is in
	// pieces remembers the counts of short pieces: few words of a text are new. It is a direct-mapped cache with the
	// count in the key: a lookup costs one cache line.
	pieces [1 << pieceBits]piece
	// memo remembers answers of fitting. Without it, each token of a long run of one character, which has a token of
	// every length, takes as many steps as there are such tokens.
	memo [1 << 10]struct{ left, token, fits uint32 } // left is one higher: 0 is none
}

// placed is a token in the stack. longestHere: no longer token begins at its place.
type placed uint32

const longestHere placed = 1 << 31

func (p placed) token() uint32 { return uint32(p &^ longestHere) }

// Count returns how many tokens the piece s[from:to] is: exactly as many as merging its bytes, lowest rank first, would
// leave, in linear time. The only error is ctx's, checked now and then.
func (t *Table) Count(ctx context.Context, s string, from, to int, w *Work) (int, error) {
	if to-from > maxRemembered {
		return t.search(ctx, s[from:to], w)
	}
	if to-from == 1 { // every byte is a token
		return 1, nil
	}
	p := load(s, from, to)
	// Multiplication by odd constants spreads the bits; the upper ones choose the entry.
	known := &w.pieces[(p.low*0x9e3779b97f4a7c15^p.high*0xc2b2ae3d27d4eb4f)>>(64-pieceBits)]
	if known.low != p.low || known.high&^countMask != p.high {
		n, err := t.search(ctx, s[from:to], w)
		if err != nil {
			return 0, err
		}
		known.low, known.high = p.low, p.high|uint64(n)<<pieceCount
	}
	return int(known.high >> pieceCount & 0xf), nil
}

func load(s string, from, to int) piece {
	n := to - from
	length := uint64(n) << pieceLength
	// Reading 16 bytes at once is much faster than one by one; only the end of a text is too short.
	if from+16 <= len(s) { // read past the piece, then mask
		low, high := load8(s[from:]), load8(s[from+8:])
		if n < 8 {
			return piece{low & (1<<(8*n) - 1), length}
		}
		return piece{low, high&(1<<(8*(n-8))-1) | length}
	}
	p := piece{high: length}
	for i := range n {
		if i < 8 {
			p.low |= uint64(s[from+i]) << (8 * i)
		} else {
			p.high |= uint64(s[from+i]) << (8 * (i - 8))
		}
	}
	return p
}

// load8 reads eight bytes, lowest first: one instruction when compiled.
func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// search counts the tokens of s, and leaves them in w.stack. The result is the one sequence of tokens in which every
// adjacent two stay unmerged. From the left, search takes the longest token, or else its longest prefix, that stays
// after the one before. If none does, it goes back by one token, and never tries that place again.
func (t *Table) search(ctx context.Context, s string, w *Work) (int, error) {
	if s == "" {
		return 0, nil
	}
	w.reset()
	token, length := t.longest(s, 0, t.start(s, 0), w)
	if length == len(s) { // most pieces are one token
		w.stack = append(w.stack, placed(token))
		return 1, nil
	}
	w.reviveAll(len(s))
	at, left := 0, placed(none) // the token before s[at], or none
	longest := token            // at s[at:], or none after going back to s[at]
	border := start{}           // where the bytes on both sides of at lead
	for {
		if left != none && token != none {
			token, length = t.fitting(left, token, length, border.token(), w)
		}
		if token == none {
			// No token fits here: replace the last one by its prefix.
			w.kill(at)
			last := len(w.stack) - 1
			token = w.stack[last].token()
			w.stack = w.stack[:last]
			at -= t.tokens[token].length()
			token, length = t.prefix(token)
			left, longest = none, none
			if last > 0 {
				left, border = w.stack[last-1], t.start(s, at-1)
			}
			continue
		}
		end := at + length
		if end == len(s) {
			w.stack = append(w.stack, placed(token))
			return len(w.stack), nil
		}
		// Finds most of the tokens after which none fits: the token's last byte would be merged with the next before
		// the token is complete, and before that next byte can be merged with what follows.
		next := t.start(s, end)
		after := t.start(s, end-1)
		if b := after.token(); b < t.tokens[token].last() && b <= next.lowest() || w.isDead(end) {
			token, length = t.prefix(token)
			continue
		}
		left = placed(token)
		if token == longest {
			left |= longestHere
		}
		w.stack = append(w.stack, left)
		if len(w.stack)%(16<<10) == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		at, border = end, after
		token, length = t.longest(s, at, next, w)
		longest = token
	}
}

// prefix returns the longest other token that token begins with, and its length in bytes; none if there is none.
func (t *Table) prefix(token uint32) (prefix uint32, length int) {
	if prefix = t.tokens[token].prefix(); prefix != none {
		length = t.tokens[prefix].length()
	}
	return prefix, length
}

// start returns where the two bytes at s[i:] lead.
func (t *Table) start(s string, i int) start {
	if i+1 < len(s) {
		return t.double[uint16(s[i])<<8|uint16(s[i+1])]
	}
	return nothing
}

// longest returns the longest token that s[at:] begins with, and its length in bytes. d is where the first two bytes
// lead. In a run of one byte, longer than any such token, it need not look.
func (t *Table) longest(s string, at int, d start, w *Work) (token uint32, length int) {
	token, length = d.token(), 2
	if token == none {
		token, length = t.single[s[at]], 1 // every byte is a token
	}
	if at+2 >= len(s) || !d.goesOn(s[at+2]) {
		return token, length
	}
	if s[at] == s[at+1] && s[at] == s[at+2] {
		if r := t.runs[s[at]]; w.runEnd(s, at)-at > r.depth {
			return r.token, t.tokens[r.token].length()
		}
	}
	base, found := d.base(), uint32(0) // the root, where no token ends
	for i := at + 2; i < len(s); i++ {
		b := uint32(s[i])
		next := base ^ b
		e := t.entry(next)
		if e.label() != b {
			break
		}
		if e&ends != 0 {
			found, length = next, i+1-at
		}
		base = e.base()
	}
	if found != 0 {
		token = t.ids[found]
	}
	return token, length
}

// fitting returns the longest of token and its prefixes that stays after left, and its length; or none. border is for
// stay.
func (t *Table) fitting(left placed, token uint32, length int, border uint32, w *Work) (fits uint32, n int) {
	if length < 3 { // it has one prefix at most
		return t.firstFitting(left, token, length, border)
	}
	m := &w.memo[hash(left.token(), token)%uint32(len(w.memo))]
	if m.left != left.token()+1 || m.token != token {
		fits, n = t.firstFitting(left, token, length, border)
		m.left, m.token, m.fits = left.token()+1, token, fits
		return fits, n
	}
	if m.fits == none {
		return none, 0
	}
	return m.fits, t.tokens[m.fits].length()
}

func (t *Table) firstFitting(left placed, token uint32, length int, border uint32) (fits uint32, n int) {
	for token != none && !t.stay(left, token, border) {
		token, length = t.prefix(token)
	}
	return token, length
}

// stay reports whether two adjacent tokens stay apart: merging their bytes never merges across their border. It takes
// both apart, the last merge first, and checks at each step whether the two parts at the border would have been merged
// earlier. The last step has two bytes: border is what they are merged to, or none.
func (t *Table) stay(before placed, right, border uint32) bool {
	left := before.token()
	// The last step comes first: one comparison, without a lookup.
	if border < t.tokens[left].last() && border < t.tokens[right].first() {
		return false
	}
	// All of left is never merged with what follows if no longer token begins at its place.
	alone := uint32(none)
	if before&longestHere != 0 {
		alone = left
	}
	// limit is the rank of the merge taken apart last: a merge at the border below it would have come earlier.
	limit := uint32(none)
	for left|right >= 1<<8 { // two bytes are left otherwise
		if left != alone {
			if h := hash(left, right); t.mayMerge(h, limit) && t.merge(left, right, h) < limit {
				return false
			}
		}
		if left > right {
			limit = left
			left = t.tokens[left].right()
		} else {
			limit = right + 1
			right = t.tokens[right].left()
		}
	}
	return true
}

// mayMerge reports whether a pair with this hash may be merged to a token below limit. Most are not.
func (t *Table) mayMerge(h, limit uint32) bool {
	f := t.filter[bits.Len32(limit-1)&31]
	return t.maybe[f.word(h)]&marks(h) == marks(h)
}

// merge returns the token that two tokens are merged to, or none, which is above all tokens. h is their hash.
func (t *Table) merge(left, right, h uint32) uint32 {
	for slot := t.slot(h); ; slot = t.after(slot) {
		switch p := t.pairs[slot]; {
		case p == 0:
			return none
		case p.of(left, right):
			return p.merged()
		}
	}
}

// reset prepares for a piece. memo and pieces stay, as they hold for the table.
func (w *Work) reset() {
	w.stack = w.stack[:0]
	w.run.from, w.run.to = 0, 0
}

// reviveAll marks no place of a piece of n bytes dead. Apart from reset, as pieces of one token need no places.
func (w *Work) reviveAll(n int) {
	words := n/64 + 1
	if cap(w.dead) < words {
		w.dead = make([]uint64, words)
	}
	w.dead = w.dead[:words]
	clear(w.dead)
}

// runEnd returns where the run of one byte at s[at] ends, and looks at each byte of a run once.
func (w *Work) runEnd(s string, at int) int {
	if at < w.run.from || at >= w.run.to {
		w.run.from, w.run.to = at, at+1
		for w.run.to < len(s) && s[w.run.to] == s[at] {
			w.run.to++
		}
	}
	return w.run.to
}

func (w *Work) isDead(i int) bool { return w.dead[i/64]&(1<<(i%64)) != 0 }
func (w *Work) kill(i int)        { w.dead[i/64] |= 1 << (i % 64) }
