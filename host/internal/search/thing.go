package search

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/marks"
)

// What is shown of a block is the thing that a passage is part of (a function, a hunk, a record, a paragraph), as far as
// it is within so many lines and bytes around the passage.
const (
	thingLines = 60
	thingBytes = 4000
)

// line is a line near a passage.
type line struct {
	from, to int
	// indent is how many blanks and tabs it begins with, behind the number that a tool put before it.
	indent int
	blank  bool
	// begins: nothing before it belongs to it, such as the first line of a hunk. closes: it belongs to the line above
	// with the same indent.
	begins, closes bool
}

// Thing returns what to show of the passage with a number: the thing that its best line is part of, in at most so many
// bytes, or the part of the passage around that line. weigh says how much a line has of what is looked for. It looks at
// a bounded part of the block.
func (b Block) Thing(number, most int, weigh func(string) float64) (p Passage) {
	at := b.spans[number]
	most = min(most, thingBytes)
	if at.from > 0 && b.Text[at.from-1] != '\n' || at.to < len(b.Text) && b.Text[at.to-1] != '\n' {
		return b.show(b.within(at, most, weigh)) // of one line
	}
	lines, first := b.near(at)
	lo, hi := 0, len(lines) // of the passage
	for lo < len(lines) && lines[lo].from < at.from {
		lo++
	}
	for hi > 0 && lines[hi-1].to > at.to {
		hi--
	}
	best, weight := lo, -1.0
	begin, last := -1, -1 // that have something of it
	for i := lo; i < hi; i++ {
		w := weigh(b.Text[lines[i].from:lines[i].to])
		if w > weight {
			best, weight = i, w
		}
		if w > 0 && begin < 0 {
			begin = i
		}
		if w > 0 {
			last = i
		}
	}
	if begin >= 0 {
		lo, hi = begin, last+1
	}
	if lines[best].to-lines[best].from > most {
		return b.show(b.within(span{lines[best].from, lines[best].to, first + best}, most, weigh))
	}
	from, to := grown(lines, best, lo, hi, most)
	return b.show(span{lines[from].from, lines[to-1].to, first + from})
}

func (b Block) show(s span) (p Passage) {
	p.Text = b.Text[s.from:s.to]
	p.Line, p.Lines, p.Of = s.line, marks.Lines(p.Text), b.lines
	return p
}

// within returns the part of a long line that has the most of what is looked for, in about so many bytes.
func (b Block) within(at span, most int, weigh func(string) float64) span {
	text := b.Text[at.from:at.to]
	if len(text) <= most {
		return at
	}
	most = max(most, 16)
	best, weight := 0, -1.0
	for from := 0; from < len(text); from += max(most/2, len(text)/32) {
		if w := weigh(text[from:min(from+most, len(text))]); w > weight {
			best, weight = from, w
		}
	}
	from, to := runeStart(text, best), runeStart(text, min(best+most, len(text)))
	return span{at.from + from, at.from + to, at.line}
}

// runeStart returns the place of the rune that the byte at a place is part of.
func runeStart(text string, at int) int { return len(cut(text, at)) }

// near returns the lines around a passage, and the number of the first.
func (b Block) near(at span) (all []line, first int) {
	from, n := at.from, 0
	for ; from > 0 && n < thingLines; n++ {
		begin := strings.LastIndexByte(b.Text[max(0, from-1-thingBytes):from-1], '\n')
		if begin < 0 && from-1 > thingBytes {
			break // a long line
		}
		begin += 1 + max(0, from-1-thingBytes)
		if at.from-begin > thingBytes {
			break
		}
		from = begin
	}
	first = at.line - n
	for behind := 0; from < len(b.Text) && behind < thingLines; {
		rest := b.Text[from:min(len(b.Text), from+thingBytes)]
		end := strings.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		if from >= at.to {
			if behind++; end == thingBytes || from+end-at.to > thingBytes {
				break
			}
		}
		all = append(all, lineOf(b.Text, from, from+end))
		from += end
	}
	return all, first
}

func lineOf(text string, from, to int) line {
	l := line{from: from, to: to}
	s := strings.TrimRight(text[from:to], "\r\n")
	if _, rest, ok := marks.Number(s); ok {
		s = rest
	}
	said := strings.TrimLeft(s, " \t")
	l.indent, l.blank = len(s)-len(said), strings.TrimSpace(said) == ""
	starts := func(with string) bool { return strings.HasPrefix(said, with) }
	l.begins = l.indent == 0 && slices.ContainsFunc(beginnings, starts) || slices.ContainsFunc(tests, starts)
	l.closes = slices.ContainsFunc(closings, starts)
	return l
}

// Lines that begin a thing, whatever their indent says; those that go on with or close the one above of their indent.
var (
	beginnings = []string{"diff --git ", "@@ ", "*** ", "## ", "### ", "#### ", "commit ", "Chunk ID: "}
	tests      = []string{"=== RUN", "--- FAIL", "--- PASS", "● ", "FAILED ", "ok  \t", "FAIL\t"}
	closings   = []string{")", "}", "]", "end", "fi", "done", "esac", "</", "else", "elif", "except", "finally", "catch", "*/",
		`"""`}
)

// grown returns which lines to show around the best one of lines[lo:hi], which have what is looked for: from one up to
// another. Each line is looked at a bounded number of times.
func grown(lines []line, best, lo, hi, most int) (from, to int) {
	size := func(from, to int) int { return lines[to-1].to - lines[from].from }
	from, to = best, best+1
	// The outermost thing around it that fits.
	for head, depth := best, 0; head >= 0 && depth < 12; depth++ {
		begin, end := heading(lines, head), scope(lines, head)
		if end <= best || size(begin, end) > most {
			break
		}
		from, to = min(from, begin), max(to, end)
		head = parent(lines, head)
	}
	// What begins by what it says, to the next that does.
	begin, end := best, best+1
	for begin > 0 && !lines[begin].begins {
		begin--
	}
	for end < len(lines) && !lines[end].begins {
		end++
	}
	whole := lines[begin].begins && size(begin, end) <= most
	if whole {
		from, to = begin, end
	}
	// All that has what is looked for, if there is room; of what has no such form, the paragraph.
	whole = whole || to-from > 2
	if a, z := min(from, lo), max(to, hi); size(a, z) <= most {
		from, to = a, z
	}
	paragraph := func(i int) bool { return !lines[i].blank && !lines[i].begins }
	for to < len(lines) && (to < hi || !whole && paragraph(to)) && size(from, to+1) <= most {
		to++
	}
	for from > 0 && (from > lo || !whole && !lines[from].begins && !lines[from-1].blank) && size(from-1, to) <= most {
		from--
	}
	for to > from+1 && lines[to-1].blank {
		to--
	}
	for from < to-1 && lines[from].blank {
		from++
	}
	return from, to
}

// scope returns the end of what a line begins: behind the lines below that are indented more, and those that close it.
func scope(lines []line, head int) (end int) {
	end = head + 1
	for i := head + 1; i < len(lines); i++ {
		l := lines[i]
		switch {
		case l.begins:
			return end
		case l.blank:
			continue
		case l.indent < lines[head].indent, l.indent == lines[head].indent && !l.closes:
			return end
		}
		end = i + 1
	}
	return end
}

// parent returns the line that a line is part of; -1 if there is none among the lines.
func parent(lines []line, at int) int {
	for i := at - 1; i >= 0 && !lines[at].begins; i-- {
		if !lines[i].blank && lines[i].indent < lines[at].indent && !lines[i].closes {
			return i
		}
	}
	return -1
}

// heading returns where what stands above a line and belongs to it begins, such as a comment: a few lines of the same
// indent, up to a blank one.
func heading(lines []line, at int) int {
	from := at
	for from > 0 && at-from < 6 && !lines[from].begins && !lines[from-1].blank &&
		lines[from-1].indent == lines[at].indent && !lines[from-1].closes {
		from--
	}
	return from
}
