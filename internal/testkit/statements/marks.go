package statements

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk/content"
)

// mark is a sentence between the lines of a text, in the place of a part of it.
type mark struct {
	kind     Kind
	sentence string
	lines    int // whole lines that it stands for
	chars    int // characters of other lines that it stands for
	bytes    int // that it stands for; -1: it does not say
	// path is the file of an inclusion, entry the id that the mark names, and ref the result of repeated lines.
	path, entry string
	ref         reference
	again       bool // the file is said to be included again
	foreign     bool // it may stand for anything
}

var (
	omitted = regexp.MustCompile(`^\[… (?:([1-9][0-9]*) (lines?))?( and )?(?:([1-9][0-9]*) (characters?))? omitted` +
		`(?:: lines ([0-9]+)-([0-9]+) of the (?:([0-9]+)(st|nd|rd|th) last )?result of (.+) above` +
		`(?:, numbered from ([0-9]+))?)?\]$`)
	removedBytes = regexp.MustCompile(
		`^\[([0-9]+) bytes removed here to stay under the context limit: entry (\S+)\]$`)
	inclusionGone = regexp.MustCompile(`^\[Earlier inclusion of (.+) removed( — included again later)?\]\r?$`)
	restGone      = regexp.MustCompile(`… \[the rest was removed to stay under the context limit: entry (\S+)\]$`)
)

// neverAnswered is the error in an answer that the host made.
const neverAnswered = "no result was recorded: the call was interrupted"

// parseMark returns the mark that a line is. Which marks there are depends on who speaks.
func parseMark(line string, p place) (mark, bool) {
	m := mark{sentence: line, bytes: -1}
	if p.by == content.Human {
		found := inclusionGone.FindStringSubmatch(line)
		if found == nil {
			return m, false
		}
		m.kind, m.path, m.again = Inclusion, found[1], found[2] != ""
		return m, true
	}
	if found := omitted.FindStringSubmatch(line); found != nil {
		ok := m.parts(found) && (m.kind == Omitted || p.answer)
		return m, ok
	}
	if found := removedBytes.FindStringSubmatch(line); found != nil && p.answer {
		m.kind, m.bytes, m.entry = Middle, number(found[1]), found[2]
		return m, true
	}
	return m, false
}

// parts reads the parts of a mark for lines; false if it is not well formed.
func (m *mark) parts(found []string) bool {
	lines, chars := found[1] != "", found[4] != ""
	if !lines && !chars || (found[3] != "") != (lines && chars) {
		return false
	}
	if lines {
		m.lines = number(found[1])
	}
	if chars {
		m.chars = number(found[4])
	}
	if lines && (found[2] == "line") != (m.lines == 1) || chars && (found[5] == "character") != (m.chars == 1) {
		return false
	}
	if m.kind = Omitted; found[6] == "" {
		return true
	}
	m.kind = Repeated
	m.ref = reference{label: found[10], from: number(found[6]), to: number(found[7]), last: 1, numbered: -1}
	if found[8] != "" {
		m.ref.last = number(found[8])
	}
	if found[11] != "" {
		m.ref.numbered = number(found[11])
	}
	return !chars && (found[8] == "" || m.ref.last > 1 && found[9] == ordinal(m.ref.last))
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
	// The rest of a line first, then whole lines, then the beginning of a line.
	chars := m.chars
	if at > 0 && was[at-1] != '\n' {
		line, _, _ := strings.Cut(was[at:], "\n")
		n := utf8.RuneCountInString(line)
		if n > chars {
			return at + runes(line, chars)
		}
		chars -= n
		at = min(len(was), at+len(line)+1)
	}
	for n := 0; n < m.lines && at < len(was); n++ {
		end := strings.IndexByte(was[at:], '\n')
		if end < 0 {
			return len(was)
		}
		at += end + 1
	}
	return at + runes(was[at:], chars)
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
	default:
		// The line break of a line whose end went may count as a character of it.
		lines, chars, breaks := parts(was, from, to)
		if m.lines != lines || m.chars < chars || m.chars > chars+breaks {
			return fmt.Sprintf("in its place are %d lines, and %d characters of others", lines, chars)
		}
	}
	return ""
}

// parts counts the whole lines in was[from:to], and the characters of lines of which another part is not in it. breaks
// is how many of these lines end in it.
func parts(was string, from, to int) (lines, chars, breaks int) {
	if from > 0 && was[from-1] != '\n' {
		end := strings.IndexByte(was[from:to], '\n')
		if end < 0 {
			return 0, utf8.RuneCountInString(was[from:to]), 0
		}
		chars, breaks = utf8.RuneCountInString(was[from:from+end]), 1
		from += end + 1
	}
	whole := was[from:to]
	if to < len(was) {
		whole = whole[:strings.LastIndexByte(whole, '\n')+1]
	}
	return touched(whole), chars + utf8.RuneCountInString(was[from+len(whole):to]), breaks
}

// rest reads a message of a person that was cut at its end.
func (r *reading) rest(was, now string) bool {
	at := restGone.FindStringSubmatchIndex(now)
	if at == nil || strings.HasSuffix(was, now[at[0]:]) {
		return false
	}
	why, head := "", now[:at[0]]
	switch {
	case !strings.HasPrefix(was, head):
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
