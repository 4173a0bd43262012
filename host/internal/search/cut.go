package search

import (
	"strings"
	"unicode/utf8"
)

// A passage has at most so many lines and bytes: enough to tell what a line is about, and small enough that three of
// them cost a model little.
const (
	passageLines = 12
	passageBytes = 1600
)

// span is a passage of a text: bytes [from, to), which begin in line.
type span struct{ from, to, line int }

// passages cuts a text: each byte is in exactly one passage, and no rune in two. A line that is longer than a passage
// is cut, any other is in one.
func passages(text string) (all []span) {
	at := span{line: 1} // the passage that is being made
	lines, line := 0, 1 // lines in it; the next one's number
	end := func() {
		if at.to > at.from {
			all = append(all, at)
		}
		at = span{from: at.to, to: at.to, line: line}
		lines = 0
	}
	for rest := text; rest != ""; {
		n := strings.IndexByte(rest, '\n') + 1
		if n == 0 {
			n = len(rest)
		}
		if lines == passageLines || at.to-at.from+n > passageBytes {
			end()
		}
		for ; n > passageBytes; at.from = at.to {
			// A rune has at most 4 bytes; what is no rune is cut anywhere.
			size := passageBytes
			for back := 0; back < utf8.UTFMax && !utf8.RuneStart(rest[size]); back++ {
				size--
			}
			all = append(all, span{at.to, at.to + size, line})
			at.to, n, rest = at.to+size, n-size, rest[size:]
		}
		at.to, rest = at.to+n, rest[n:]
		lines++
		line++
	}
	end()
	return all
}
