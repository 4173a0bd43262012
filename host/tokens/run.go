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
	for at := 0; at < len(s); {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		rest := s[at:]
		if len(rest) <= lim.step+lim.margin {
			return total + len(t.encode(rest)), nil
		}
		end := lim.step + lim.margin
		for !utf8.RuneStart(rest[end]) {
			end--
		}
		chunk := rest[:end]
		if ahead.sameSpace(at + end) {
			// All space up to its last line break is one piece in the whole; so it must be in the chunk.
			chunk += "\n"
		}
		length, n := t.lastToken(chunk, t.encode(chunk), lim.step)
		total += n
		at += min(length, end)
	}
	return total, nil
}

// lastToken returns where the last of the tokens ends that lie in the first most bytes of text, and how many tokens that
// are. Some characters are made of several tokens; text is not cut inside of these. And text is not cut before a line
// break or a slash unless that would make the step much shorter: o200k joins them to the punctuation before, but not if
// a text begins with them.
func (t *tables) lastToken(text string, ids []int, most int) (end, n int) {
	at := 0
	for i, id := range ids {
		at += int(t.lengths[id])
		if at > most {
			break
		}
		joined := text[at] == '\n' || text[at] == '\r' || text[at] == '/'
		if utf8.RuneStart(text[at]) && (!joined || end < most*3/4) {
			end, n = at, i+1
		}
	}
	if n == 0 {
		return len(text), len(ids) // a token longer than a step, which no encoding has: take the whole chunk
	}
	return end, n
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
