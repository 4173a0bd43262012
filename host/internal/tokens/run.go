package tokens

import (
	"context"
	"unicode/utf8"
)

// countRun counts s, a stretch without safe places, in steps.
//
// If the tokens of a whole text have a boundary at some place, then the texts before and after it have the same
// tokens on their own, because no merge ever crossed that place. So each step encodes lim.margin bytes more than it
// needs and counts the tokens of its first lim.step bytes. The next step starts where the last of these tokens ends.
// That place is a boundary of the whole, except in the rare case where something after the margin would have moved
// it. Cutting blindly every 1,024 bytes takes longer and costs up to one token per cut, and 1,024 bytes may be as few
// as 8 tokens.
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

// tokensWithin finds the tokens that lie in text[from:from+most]. It returns how many there are and where the last of
// them ends, counted from from. Some characters consist of several tokens; they are never cut inside.
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

// piece says what kind of piece a place may be inside of, as far as that affects how the following text is split. A
// piece of symbols continues with symbols and marks, then with line breaks and, in o200k, with slashes among these.
// At the beginning of a text, some of these would be split differently.
type piece uint8

const (
	anything piece = iota
	oneSymbol
	symbols
	breaks // after symbols
)

// standIn returns what to put before a text that continues the piece, so that the text is split as it is in the
// whole: symbols of a kind that no token combines with others, and a line break of the kind that is rarest in tokens.
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

// after returns the piece at the end of text.
func (p piece) after(text string) piece {
	for _, r := range text {
		switch c := classOf(r); {
		case r == '\n' || r == '\r':
			if p != anything {
				p = breaks
			}
		case c == other && p == breaks && r == '/', c == mark && p == symbols:
			// The piece continues.
		case c == other && (p == oneSymbol || p == symbols):
			p = symbols
		case c == other:
			p = oneSymbol
		default: // including a mark after one symbol: in o200k that is a word
			p = anything
		}
	}
	return p
}

// breakAhead looks for the next line break in the same stretch of space. Callers ask about ascending places, so that
// each character is looked at once.
type breakAhead struct {
	text  string
	known int // up to here, the answer is found
	found bool
}

// sameSpace reports whether at lies within a stretch of space that has a line break at or after it.
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
