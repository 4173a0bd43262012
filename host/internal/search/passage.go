package search

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// Passage is what a search finds: lines of a block's [Text].
type Passage = outcome.Passage

// Found is what a search of one session found.
type Found = outcome.Found

// Place is where a passage stood.
type Place = outcome.Place

// Block is a block's text, cut.
type Block struct {
	Text  string
	spans []span
	lines int
}

// Cut cuts a block.
func Cut(b content.Block) Block {
	text := Text(b)
	return Block{text, passages(text), marks.Lines(text)}
}

// Passage returns the passage with a number, from 0, if the block has it.
func (b Block) Passage(number int) (p Passage, ok bool) {
	if number >= len(b.spans) {
		return p, false
	}
	at := b.spans[number]
	p.Text = b.Text[at.from:at.to]
	p.Line, p.Lines, p.Of = at.line, marks.Lines(p.Text), b.lines
	return p, true
}

// Ends returns the first and the last lines of a text, each as far as a line goes, with what is between them counted.
func Ends(text string) string {
	const first, last, long = 3, 3, 160
	lines := marks.Lines(text)
	short := func(p Passage) string {
		var out strings.Builder
		for line := range strings.Lines(p.Text) {
			out.WriteString(cut(strings.TrimRight(line, "\r\n"), long))
			out.WriteByte('\n')
		}
		return out.String()
	}
	if lines <= first+last+1 {
		return short(Lines(text, 1, lines))
	}
	return short(Lines(text, 1, first)) + fmt.Sprintf("… %d lines …\n", lines-first-last) +
		short(Lines(text, lines-last+1, lines))
}

// Lines returns the lines from first to last of a block, as far as it has them.
func Lines(text string, first, last int) (p Passage) {
	p.Of = marks.Lines(text)
	first = max(first, 1)
	last = min(last, p.Of)
	p.Line, p.Lines = first, max(0, last-first+1)
	begin, at := 0, 0
	for n := 1; n <= last; n++ {
		if n == first {
			begin = at
		}
		if end := strings.IndexByte(text[at:], '\n'); end >= 0 {
			at += end + 1
		} else {
			at = len(text)
		}
	}
	if p.Lines > 0 {
		p.Text = text[begin:at]
	}
	return p
}
