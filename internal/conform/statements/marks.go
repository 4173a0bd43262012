package statements

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk/content"
)

// mark is a sentence between the lines of a text, in the place of a part of it.
type mark struct {
	kind     Kind
	sentence string
	lines    int // that it stands for
	bytes    int // that it stands for; -1: it does not say
	chars    int // that it stands for, of one line; 0: it stands for lines or bytes
	part     part
	// path is the file of an inclusion, entry the id that the mark names, and ref the result of repeated lines.
	path, entry string
	ref         reference
	again       bool // the file is said to be included again
	foreign     bool // it may stand for anything
}

// part is which part of a line a mark in characters stands for.
type part string

const (
	within    part = " within the line"
	toEnd     part = ", to the end of the line"
	fromStart part = ", from the start of the line"
)

var (
	omittedLines = lazily(`^\[… ([1-9][0-9]*) (lines?) omitted(?:: lines ([0-9]+)-([0-9]+) of the ` +
		`(?:([0-9]+)(st|nd|rd|th) last )?result of (.+) above(?:, numbered from ([0-9]+))?)?\]$`)
	omittedPart = lazily(`^\[… ([1-9][0-9]*) (characters?) omitted( within the line|, to the end of the line|` +
		`, from the start of the line)\]$`)
	removedBytes = lazily(
		`^\[([0-9]+) bytes removed here to stay under the context limit: entry (\S+)\]$`)
	inclusionGone = lazily(`^\[Earlier inclusion of (.+) removed( — included again later)?\]\r?$`)
	restGone      = lazily(`… \[the rest was removed to stay under the context limit: entry (\S+)\]$`)
)

// together is what to do about a line that was torn.
const together = "a mark for a part of a line and the rest of that line stay or go together"

// neverAnswered is the error in an answer that the host made.
const neverAnswered = "no result came before the conversation went on"

// parseMark returns the mark that a line is. Which marks there are depends on who speaks.
func parseMark(line string, p place) (mark, bool) {
	m := mark{sentence: line, bytes: -1}
	if p.by == content.Human {
		found := inclusionGone().FindStringSubmatch(line)
		if found == nil {
			return m, false
		}
		m.kind, m.path, m.again = Inclusion, found[1], found[2] != ""
		return m, true
	}
	if found := omittedLines().FindStringSubmatch(line); found != nil {
		ok := m.ofLines(found) && (m.kind == Omitted || p.answer)
		return m, ok
	}
	if found := omittedPart().FindStringSubmatch(line); found != nil {
		m.kind, m.chars, m.part = Omitted, number(found[1]), part(found[3])
		return m, (found[2] == "character") == (m.chars == 1)
	}
	if found := removedBytes().FindStringSubmatch(line); found != nil && p.answer {
		m.kind, m.bytes, m.entry = Middle, number(found[1]), found[2]
		return m, true
	}
	return m, false
}

// ofLines reads the parts of a mark for lines; false if it is not well formed.
func (m *mark) ofLines(found []string) bool {
	m.kind, m.lines = Omitted, number(found[1])
	if (found[2] == "line") != (m.lines == 1) {
		return false
	}
	if found[3] == "" {
		return true
	}
	m.kind = Repeated
	m.ref = reference{label: found[7], from: number(found[3]), to: number(found[4]), last: 1, numbered: -1}
	if found[5] != "" {
		m.ref.last = number(found[5])
	}
	if found[8] != "" {
		m.ref.numbered = number(found[8])
	}
	return found[5] == "" || m.ref.last > 1 && found[6] == ordinal(m.ref.last)
}

// ordinal is the ending of a number that counts.
func ordinal(n int) string {
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		return "st"
	case n%10 == 2:
		return "nd"
	case n%10 == 3:
		return "rd"
	}
	return "th"
}

// number reads digits; what is no number that fits is more than any text has.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1 << 60
	}
	return n
}

// skip returns where in a text a mark that stands at a place ends, by what it says.
func (m *mark) skip(was string, at int) int {
	switch {
	case m.kind == Inclusion:
		if end := inclusionEnd(was[at:], m.path); end > 0 {
			return at + end
		}
		return at
	case m.bytes >= 0:
		return min(len(was), at+min(m.bytes, len(was)))
	}
	if m.chars > 0 {
		line, _, _ := strings.Cut(was[at:], "\n")
		if n := runes(line, m.chars); m.part != toEnd {
			return at + n
		}
		return min(len(was), at+len(line)+1)
	}
	for n := 0; n < m.lines && at < len(was); n++ {
		end := strings.IndexByte(was[at:], '\n')
		if end < 0 {
			return len(was)
		}
		at += end + 1
	}
	return at
}

// runes returns how many bytes the first n characters of a text have.
func runes(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// counts says what is wrong with a mark that stands for was[from:to]; "" if nothing is.
func (m *mark) counts(was string, from, to int) string {
	text := was[from:to]
	switch {
	case m.foreign:
	case m.kind == Inclusion:
		if end := inclusionEnd(text, m.path); end != len(text) {
			return fmt.Sprintf("in its place is no inclusion of that file, but %.100q", text)
		}
	case m.bytes >= 0:
		if len(text) != m.bytes {
			return fmt.Sprintf("in its place are %d bytes", len(text))
		}
	case m.chars > 0:
		return m.ofPart(was, from, to)
	case inLine(was, from) || inLine(was, to):
		return fmt.Sprintf("in its place are %d lines, one of them in part: %s", touched(text), together)
	case m.lines != touched(text):
		return fmt.Sprintf("in its place are %d lines", touched(text))
	}
	return ""
}

// ofPart says what is wrong with a mark for a part of a line.
func (m *mark) ofPart(was string, from, to int) string {
	part := strings.TrimSuffix(was[from:to], "\n")
	begins, ends := !inLine(was, from), !inLine(was, to)
	switch {
	case strings.Contains(part, "\n"), m.part != toEnd && len(part) < to-from:
		return "in its place is more than a part of a line"
	case utf8.RuneCountInString(part) != m.chars:
		return fmt.Sprintf("in its place are %d characters", utf8.RuneCountInString(part))
	case begins != (m.part == fromStart), ends != (m.part == toEnd):
		return fmt.Sprintf("it begins its line: %t; it ends it: %t", begins, ends)
	}
	return ""
}

// inLine reports whether a place is within a line, or at its end but for the line break.
func inLine(was string, at int) bool { return at > 0 && at < len(was) && was[at-1] != '\n' }

// rest reads a message of a person that was cut at its end.
func (r *reading) rest(was, now string) bool {
	at := restGone().FindStringSubmatchIndex(now)
	if at == nil || strings.HasSuffix(was, now[at[0]:]) {
		return false
	}
	why, head := "", now[:at[0]]
	switch {
	case !beginsSo(was, head):
		why = "the message does not begin so"
	case len(head) == len(was):
		why = "nothing is gone"
	default:
		why = r.ownEntry(now[at[2]:at[3]])
	}
	r.said(Rest, now[at[0]:], why)
	return true
}

// ownEntry says what is wrong with the id that a sentence names as that of its entry.
func (r *reading) ownEntry(id string) string {
	if own := r.view[r.index].ID; id != own {
		return "it stands in entry " + own
	}
	return ""
}

// refers judges what a mark refers to. text is what it stands for.
func (r *reading) refers(m mark, p place, text string) string {
	switch m.kind {
	case Repeated:
		return r.repeats(m, p, text)
	case Inclusion:
		if !m.again {
			return ""
		}
		return r.includedLater(m.path, p)
	case Middle:
		return r.ownEntry(m.entry)
	}
	return ""
}

// earlier finds the marks of inclusions that went before the message was cut.
var earlier = lazily(`\[Earlier inclusion of [^\n]* removed[^\n]*\]`)

// beginsSo reports whether a message began with a text, but for inclusions that went.
func beginsSo(was, text string) bool {
	for i, part := range earlier().Split(text, -1) {
		at := strings.Index(was, part)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		was = was[at+len(part):]
	}
	return true
}
