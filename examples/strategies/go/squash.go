package main

import (
	"strconv"
	"strings"
)

// markerStart begins the line that stands in for repeated ones.
const markerStart = "[the line above came "

// fewestRepeats is the fewest equal lines in a row that can become one. With two, line and marker would be no shorter.
const fewestRepeats = 3

// squash returns text as a terminal would leave it, with each run of at least minRepeats equal lines as one line and a
// marker, and each run of blank lines as one. Squashing the result again changes nothing. It takes time in proportion to
// the text, whatever the text is.
func squash(text string, minRepeats int) string {
	minRepeats = max(minRepeats, fewestRepeats)
	var out []string
	last, times := "", 0
	flush := func() {
		switch {
		case times == 0:
		case last == "":
			out = append(out, "")
		case times >= minRepeats && !strings.HasPrefix(last, markerStart):
			// A marker in the input is never counted, or a second squash would count the markers of the first.
			out = append(out, last, markerStart+strconv.Itoa(times-1)+" more times]")
		default:
			for range times {
				out = append(out, last)
			}
		}
	}
	for line := range strings.SplitSeq(withoutEscapes(text), "\n") {
		if line = shown(line); times > 0 && line == last {
			times++
			continue
		}
		flush()
		last, times = line, 1
	}
	flush()
	return strings.Join(out, "\n")
}

// shown returns what is left of a line that was written over: progress bars return to its start again and again.
func shown(line string) string {
	line = strings.TrimRight(line, " \t\r")
	return line[strings.LastIndexByte(line, '\r')+1:]
}

// withoutEscapes removes the sequences that colour text and move the cursor. No escape character is left, not even of a
// sequence that is incomplete.
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

// maxEscape bounds how far the end of a sequence is looked for, in bytes: a stray escape character must not eat a text.
const maxEscape = 256

// escapeLength returns how long the sequence is that begins behind an escape character, 0 if there is none.
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
				return i // what follows is a sequence again
			case s[i] == '\n':
				return 0
			}
		}
	case '(', ')': // a character set
		if len(s) > 1 && s[1] < 0x80 { // else it is half of a character that would be eaten
			return 2
		}
	case '7', '8', '=', '>', 'c', 'M', '\\':
		return 1
	}
	return 0
}
