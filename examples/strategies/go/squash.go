package main

import (
	"strconv"
	"strings"
)

// markerStart begins the line that replaces repeated ones.
const markerStart = "[the line above came "

// fewestRepeats is the fewest equal lines in a row that can become one. With two, the line and the marker would not be
// shorter.
const fewestRepeats = 3

// squash returns a text without what it repeats. A run of at least minRepeats lines that look equal on a terminal becomes
// the last of them and a marker, and a run of blank lines becomes one. What stays are whole lines as they came, because
// the host lets a strategy take lines out of a result and nothing else. Squashing the result again changes nothing, which
// Optimize requires. The time is proportional to the length of the text, for every text: tool output can be anything, and
// may be meant to do harm.
func squash(text string, minRepeats int) string {
	minRepeats = max(minRepeats, fewestRepeats)
	var out, run []string // the current run: lines that look like the last one
	last := ""            // how they look
	flush := func() {
		switch n := len(run); {
		case n > 0 && last == "":
			out = append(out, run[n-1])
		case n >= minRepeats && !strings.HasPrefix(last, markerStart):
			// A marker in the input is never counted, or a second squash would count the markers of the first.
			out = append(out, run[n-1], markerStart+strconv.Itoa(n-1)+" more times]")
		default:
			out = append(out, run...)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		looks := shown(withoutEscapes(line))
		if looks != last {
			flush()
			run, last = nil, looks
		}
		run = append(run, line)
	}
	flush()
	return strings.Join(out, "\n")
}

// shown returns what a terminal shows of a line after its carriage returns: a progress bar overwrites itself many
// times.
func shown(line string) string {
	line = strings.TrimRight(line, " \t\r")
	return line[strings.LastIndexByte(line, '\r')+1:]
}

// withoutEscapes removes the sequences that colour text and move the cursor. No escape character is left, even if its
// sequence is incomplete.
func withoutEscapes(text string) string {
	const esc = '\x1b'
	at := strings.IndexByte(text, esc)
	if at < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for at >= 0 {
		b.WriteString(text[:at])
		text = text[at+1:]
		text = text[escapeLength(text):]
		at = strings.IndexByte(text, esc)
	}
	b.WriteString(text)
	return b.String()
}

// maxEscape is how many bytes are searched for the end of a sequence. A stray escape character must not swallow the
// text that follows, and must not make squash quadratic.
const maxEscape = 256

// escapeLength returns the length in bytes of the sequence at the start of s, without its escape character. It is 0 if
// s does not start with a sequence: then only the escape character is removed.
func escapeLength(s string) int {
	s = s[:min(len(s), maxEscape)]
	if s == "" {
		return 0
	}
	switch s[0] {
	case '[': // parameters and intermediates, then one final byte
		for i := 1; i < len(s); i++ {
			switch c := s[i]; {
			case c >= 0x40 && c <= 0x7e:
				return i + 1
			case c < 0x20 || c > 0x7e:
				return 0
			}
		}
	case ']': // a title or a link, up to BEL or ESC \
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == '\a':
				return i + 1
			case s[i] == '\x1b':
				return i // another sequence follows
			case s[i] == '\n':
				return 0
			}
		}
	case '(', ')': // a character set
		if len(s) > 1 && s[1] < 0x80 { // a byte of 0x80 or more is part of a UTF-8 character, which must stay whole
			return 2
		}
	case '7', '8', '=', '>', 'c', 'M', '\\':
		return 1
	}
	return 0
}
