package statements

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// place is where a text stands in the entry of the view that is read.
type place struct {
	by     content.Speaker
	block  int
	line   int  // of the text, from 0
	call   bool // in the parameters of a call
	answer bool // in a result
}

// walker goes through a text of the view and, next to it, through what it was. Line by line, what stands there was
// there, or is a mark for what was left out.
type walker struct {
	*reading
	place
	was string
	at  int // the next byte of was
	// waiting are the marks since the last line that was there, and from is where they begin: whether they count right
	// is known when the next line is found.
	waiting []waiting
	from    int
}

// waiting is a mark and the range that it would stand for if the marks before it were right.
type waiting struct {
	mark
	from, to int
	line     int // where it stands
}

// walk reads a text that was another one when it was added.
func (r *reading) walk(p place, was, now string) {
	if p.by == content.Human && r.rest(was, now) {
		return
	}
	w := walker{reading: r, place: p, was: was}
	lines := strings.Split(now, "\n")
	marks := make([]*mark, len(lines)+1)
	for i, line := range lines {
		if m, ok := parseMark(line, p); ok {
			marks[i] = &m
		} else if r.o.Foreign && bracketed(line) {
			marks[i] = &mark{kind: Omitted, sentence: line, bytes: -1, foreign: true}
		}
	}
	for i, line := range lines {
		w.line = i
		last := i == len(lines)-1
		switch {
		case last && line == "": // behind the line break at the end
		case w.here(line, marks[i+1]):
			w.settle(w.at)
			w.advance(line)
		case marks[i] != nil:
			w.mark(*marks[i])
		default:
			w.find(lines, marks, i)
		}
	}
	w.end()
}

// here reports whether a line stands where the walk is. Before a mark it may be the beginning of a line, with a line
// break that was put there.
func (w *walker) here(line string, next *mark) bool {
	rest, ok := strings.CutPrefix(w.was[w.at:], line)
	return ok && (rest == "" || rest[0] == '\n' || next != nil && line != "")
}

// advance goes behind a line that is there.
func (w *walker) advance(line string) {
	w.at += len(line)
	if w.at < len(w.was) && w.was[w.at] == '\n' {
		w.at++
	}
	w.from = w.at
}

// mark takes in a mark and goes on behind what it says it stands for.
func (w *walker) mark(m mark) {
	if len(w.waiting) == 0 {
		w.from = w.at
	}
	to := m.skip(w.was, w.at)
	w.waiting = append(w.waiting, waiting{m, w.at, to, w.line})
	w.at = to
}

// settle ends a run of marks that count right.
func (w *walker) settle(to int) {
	for _, m := range w.waiting {
		w.stands(m, m.from, m.to)
	}
	w.waiting = w.waiting[:0]
	w.from = to
}

// find looks further on for a line that does not stand where the walk is.
func (w *walker) find(lines []string, marks []*mark, i int) {
	start := w.at
	if len(w.waiting) > 0 {
		start = w.from
	}
	to := i + 1
	for to < len(lines) && marks[to] == nil {
		to++
	}
	chunk := strings.Join(lines[i:to], "\n")
	at := w.seek(start, chunk)
	if at < 0 {
		at = w.seek(start, lines[i])
	}
	switch {
	case at < 0:
		w.wrong(Unknown, lines[i], "the text has no such line there")
		return
	case len(w.waiting) == 0 && w.o.Foreign:
	case len(w.waiting) == 0:
		w.wrong(Silent, lines[i], fmt.Sprintf("%d lines before it are gone", touched(w.was[start:at])))
	default:
		w.misplaced(at)
	}
	w.at = at
	w.advance(lines[i])
}

// seek returns where a text stands from a place on, at the beginning of a line if there is such a place; -1 if nowhere.
// If marks wait that can be right within a line, it goes for the first place at which they are.
func (w *walker) seek(from int, text string) int {
	if from == 0 && strings.HasPrefix(w.was, text) {
		return 0
	}
	if at := strings.Index(w.was[max(0, from-1):], "\n"+text); at >= 0 && !w.fits(max(0, from-1)+at+1) {
		if within := w.within(from, text); within >= 0 {
			return within
		}
		return max(0, from-1) + at + 1
	} else if at >= 0 {
		return max(0, from-1) + at + 1
	}
	if within := w.within(from, text); within >= 0 {
		return within
	}
	if at := strings.Index(w.was[from:], text); at >= 0 && strings.TrimSpace(text) != "" {
		return from + at
	}
	return -1
}

// within returns a place within a line at which a text stands and the waiting marks are right; -1 if there is none
// among the first few.
func (w *walker) within(from int, text string) int {
	const most = 50
	if len(w.waiting) == 0 || strings.TrimSpace(text) == "" {
		return -1
	}
	for range most {
		at := strings.Index(w.was[from:], text)
		if at < 0 {
			return -1
		}
		if w.fits(from + at) {
			return from + at
		}
		from += at + 1
	}
	return -1
}

// fits reports whether the one mark that waits is right if it ends there.
func (w *walker) fits(to int) bool {
	return len(w.waiting) == 1 && to >= w.from && w.waiting[0].counts(w.was, w.from, to) == ""
}

// misplaced ends a run of marks that end elsewhere than they say.
func (w *walker) misplaced(to int) {
	foreign := slices.ContainsFunc(w.waiting, func(m waiting) bool { return m.foreign })
	switch {
	case len(w.waiting) == 1:
		w.stands(w.waiting[0], w.from, to)
	case foreign: // which may stand for what the others do not
		for _, m := range w.waiting {
			w.said(m.kind, m.sentence, "")
		}
	default:
		why := fmt.Sprintf("in the place of these %d marks are %d lines", len(w.waiting), touched(w.was[w.from:to]))
		if slices.ContainsFunc(w.waiting, func(m waiting) bool { return m.chars > 0 }) {
			why += ": " + together
		}
		for _, m := range w.waiting {
			w.said(m.kind, m.sentence, why)
		}
	}
	w.waiting = w.waiting[:0]
}

// stands judges a mark in the place of was[from:to].
func (w *walker) stands(m waiting, from, to int) {
	why := m.counts(w.was, from, to)
	if why == "" {
		p := w.place
		p.line = m.line
		why = w.refers(m.mark, p, w.was[from:to])
	}
	w.said(m.kind, m.sentence, why)
}

// end judges what the text ends with. A line break at the end is no loss.
func (w *walker) end() {
	rest := w.was[w.at:]
	switch {
	case rest == "" || rest == "\n":
		w.settle(w.at)
	case len(w.waiting) > 0:
		w.misplaced(len(w.was))
	case strings.TrimSpace(rest) != "" && !w.o.Foreign:
		w.wrong(Silent, rest, fmt.Sprintf("these %d lines at the end are gone", touched(rest)))
	}
}

// touched is how many lines a text has, parts of lines included.
func touched(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// cut is strings.Cut for a byte.
func cut(s string, at byte) (before, after string, found bool) {
	if i := strings.IndexByte(s, at); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// bracketed reports whether a line is nothing but something in square brackets.
func bracketed(line string) bool {
	line = strings.TrimSuffix(line, "\r")
	return len(line) > 2 && line[0] == '[' && line[len(line)-1] == ']'
}
