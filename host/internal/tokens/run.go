package tokens

import (
	"context"
	"unicode/utf8"
)

// countRun counts s, a stretch without safe places, in steps.
//
// If the tokens of a whole text have a boundary at some place, then the texts before and behind it have the same tokens
// on their own: no merge ever crossed that place. So each step encodes lim.margin bytes more than it needs, counts the
// tokens of its first lim.step bytes, and the next step starts where the last of these ends. That place is a
// boundary of the whole but for the rare case where something behind the margin would have moved it. Cutting blindly
// every 1,024 bytes takes longer and costs up to one token per cut, where 1,024 bytes may be no more than 8 tokens.
func (t *tables) countRun(ctx context.Context, s string, lim limits) (int, error) {
	total := 0
	ahead := breakAhead{text: s}
	behind := piece(0)
	for at := 0; at < len(s); {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		before := behind.standIn(s[at:])
		end := min(at+lim.step+lim.margin, len(s))
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end--
		}
		chunk := before + s[at:end]
		if ahead.sameSpace(end) {
			// All space up to its last line break is one piece in the whole; so it must be in the chunk.
			chunk += "\n"
		}
		most := lim.step
		if end == len(s) {
			most = end - at
		}
		length, n := t.tokensWithin(chunk, len(before), most)
		total += n
		length = min(length, end-at)
		behind = behind.after(s[at : at+length])
		at += length
	}
	return total, nil
}

// tokensWithin returns where the last of the tokens ends that lie in text[from:from+most], counted from there, and how
// many tokens that are. Some characters are made of several tokens; they are not cut inside.
func (t *tables) tokensWithin(text string, from, most int) (length, n int) {
	at, seen := -from, 0
	for _, id := range t.encode(text) {
		if at += int(t.lengths[id]); at <= 0 {
			continue
		}
		seen++
		if at <= most && (from+at == len(text) || utf8.RuneStart(text[from+at])) {
			length, n = at, seen
		}
	}
	if n == 0 {
		return len(text) - from, seen // a token longer than a step, which no encoding has: take the whole chunk
	}
	return length, n
}

// piece says what kind of piece a place may be inside of, as far as it matters for how the text behind it is split: a
// piece of symbols goes on with symbols and marks, then with line breaks and, in o200k, with slashes among these. At the
// beginning of a text, some of that would be split otherwise.
type piece uint8

const (
	anything piece = iota
	oneSymbol
	symbols
	breaks // behind symbols
)

// standIn returns what to put before a text that goes on with the piece, so that the text is split as it is there:
// symbols of a kind that no token has together with others, and a line break of the kind that is rarest in tokens.
func (p piece) standIn(text string) string {
	const twoSymbols = "\U0010fffe\U0010fffe"
	r, _ := utf8.DecodeRuneInString(text)
	switch c := classOf(r); {
	case p == anything:
		return ""
	case r == '\n' || r == '\r':
		return twoSymbols
	case p == breaks && r == '/':
		return twoSymbols + "\r"
	case p != breaks && c == other, p == symbols && c == mark:
		return twoSymbols
	}
	return ""
}

// after returns the piece behind text.
func (p piece) after(text string) piece {
	for _, r := range text {
		switch c := classOf(r); {
		case r == '\n' || r == '\r':
			if p != anything {
				p = breaks
			}
		case c == other && p == breaks && r == '/', c == mark && p == symbols:
			// It goes on.
		case c == other && (p == oneSymbol || p == symbols):
			p = symbols
		case c == other:
			p = oneSymbol
		default: // also a mark behind one symbol: in o200k that is a word
			p = anything
		}
	}
	return p
}

// breakAhead looks for the next line break in the same stretch of space. The places it is asked about ascend, so it looks
// at each character once.
type breakAhead struct {
	text  string
	known int  // the answer for every place from the last one looked at up to here is
	found bool // this
}

// sameSpace reports whether at lies within a stretch of space that has a line break at or behind it.
func (b *breakAhead) sameSpace(at int) bool {
	if r, _ := utf8.DecodeLastRuneInString(b.text[:at]); classOf(r) != space {
		return false
	}
	if at >= b.known {
		b.found, b.known = false, len(b.text)
		for i, r := range b.text[at:] {
			if b.found = r == '\n' || r == '\r'; b.found || classOf(r) != space {
				b.known = at + i + 1
				break
			}
		}
	}
	return b.found
}
