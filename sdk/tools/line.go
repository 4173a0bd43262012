package tools

import (
	"iter"
	"strconv"
	"strings"
)

// linePattern is the beginning of a line: literal parts with anything, or the name of a running command, between them.
type linePattern []literalPart

// literalPart is a text; id says that a name follows it, else anything may.
type literalPart struct {
	text string
	id   bool
}

const (
	anyMark = "*"
	idMark  = "{id}"
)

func linePatterns(texts []string) []linePattern {
	var out []linePattern
	for _, text := range lower(texts) {
		var p linePattern
		for {
			at, mark := strings.Index(text, idMark), idMark
			if any := strings.Index(text, anyMark); any >= 0 && (at < 0 || any < at) {
				at, mark = any, anyMark
			}
			if at < 0 {
				break
			}
			p = append(p, literalPart{text[:at], mark == idMark})
			text = text[at+len(mark):]
		}
		out = append(out, append(p, literalPart{text: text}))
	}
	return out
}

// match reports whether a line begins like that. rest is what follows, id the name in the line.
func (p linePattern) match(line string) (rest, id string, ok bool) {
	for i, part := range p {
		at := 0
		if i > 0 && !p[i-1].id {
			at = strings.Index(line, part.text)
		} else if !strings.HasPrefix(line, part.text) {
			at = -1
		}
		if at < 0 {
			return "", "", false
		}
		line = line[at+len(part.text):]
		if part.id {
			n := 0
			for n < len(line) && (line[n] >= 'a' && line[n] <= 'z' || line[n] >= '0' && line[n] <= '9' || line[n] == '_' ||
				line[n] == '-') {
				n++
			}
			if n == 0 {
				return "", "", false
			}
			id, line = line[:n], line[n:]
		}
	}
	return line, id, true
}

func matchAny(ps []linePattern, line string) (id string, ok bool) {
	for _, p := range ps {
		if _, id, ok := p.match(line); ok {
			return id, true
		}
	}
	return "", false
}

// exitCode reads the number behind one of the patterns. It must end the line, or end with a bracket or a full stop:
// "exit code 1 means that" says nothing of the call.
func exitCode(ps []linePattern, line string) (code int, ok bool) {
	for _, p := range ps {
		rest, _, fits := p.match(line)
		if !fits {
			continue
		}
		rest = strings.TrimLeft(rest, " \t")
		end := 0
		for end < len(rest) && (rest[end] >= '0' && rest[end] <= '9' || end == 0 && rest[end] == '-') {
			end++
		}
		// A number out of range is not 0.
		n, err := strconv.Atoi(rest[:end])
		if err != nil && n == 0 {
			continue
		}
		if after := strings.TrimSpace(rest[end:]); after == "" || strings.ContainsRune(".>])<", rune(after[0])) {
			return n, true
		}
	}
	return 0, false
}

// first yields the first lines of a text, last its last ones from the end.
func (t *printedText) first() iter.Seq[string] {
	return func(yield func(string) bool) {
		n := 0
		for line := range strings.Lines(t.head) {
			if n++; n > headLines || !yield(strings.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}

func (t *printedText) last() iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest, n := t.tail, 0; n < tailLines; n++ {
			at := strings.LastIndexByte(rest, '\n')
			if at < 0 && t.long {
				return // it begins in the middle of a line
			}
			if !yield(strings.TrimRight(rest[at+1:], "\r")) || at < 0 {
				return
			}
			rest = rest[:at]
		}
	}
}
