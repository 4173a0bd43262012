package check

import "strings"

// A line of at least LongLine bytes may be left in pieces of at least LeastPiece bytes. A shorter line stays or goes:
// a part of it could say something else.
const (
	LongLine   = 400
	LeastPiece = 32
)

// isMark reports whether a line says only that something is gone: it stands in square brackets.
func isMark(line string) bool {
	line = strings.TrimSuffix(line, "\r")
	return len(line) > 2 && line[0] == '[' && line[len(line)-1] == ']'
}

// isLessText reports whether text is original with lines taken out and marks put in: what is not a mark is, in order
// and byte for byte, lines of original, or pieces of long ones. Where a piece does not begin or end with its line, a
// mark stands right before or behind it. Of a text that is not empty, something is left. A line break at the end does
// not count.
//
// Each line is looked for from where the one before it was found, and taken where it stands first, which leaves the
// most for those that follow. So no byte is looked at again and again, whatever the two texts are.
func isLessText(original, text string) bool {
	if original == text {
		return true
	}
	text = strings.TrimSuffix(text, "\n")
	if strings.TrimSuffix(original, "\n") == text {
		return true
	}
	if text == "" {
		return false
	}
	lines := newLines(original) // with the empty one behind a line break at its end
	line, text, more := strings.Cut(text, "\n")
	marked := false // a mark stands right before the line
	for {
		next, rest, another := strings.Cut(text, "\n")
		isIt := isMark(line)
		if !isIt && !lines.find(line, marked, more && isMark(next)) {
			return false
		}
		if !more {
			return true
		}
		marked = isIt
		line, text, more = next, rest, another
	}
}

// unread are the lines of a text that are still to be read.
type unread struct {
	text       string
	start, end int // the line in which at is, without its line break
	at         int // the first byte that was not read
}

func newLines(text string) *unread {
	u := &unread{text: text, end: -1}
	u.next()
	return u
}

// next goes on to the next line. Behind the last one, start is beyond the text.
func (u *unread) next() {
	u.start = u.end + 1
	u.at, u.end = u.start, len(u.text)
	if u.start < len(u.text) {
		if n := strings.IndexByte(u.text[u.start:], '\n'); n >= 0 {
			u.end = u.start + n
		}
	}
}

// find reads up to the end of the first place where a line stands, or a piece of a long one. A mark before or behind it
// says that it may begin or end within its line.
func (u *unread) find(line string, before, behind bool) bool {
	for ; u.start <= len(u.text); u.next() {
		rest := u.text[u.at:u.end]
		if u.at == u.start && rest == line {
			u.next()
			return true
		}
		if u.end-u.start < LongLine || len(line) < LeastPiece {
			continue
		}
		from := -1
		switch {
		case before && behind:
			from = strings.Index(rest, line)
		case before && strings.HasSuffix(rest, line):
			from = len(rest) - len(line)
		case behind && u.at == u.start && strings.HasPrefix(rest, line):
			from = 0
		}
		if from >= 0 {
			u.at += from + len(line)
			return true
		}
	}
	return false
}
