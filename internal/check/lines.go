package check

import "strings"

// LongLine is the length in bytes from which a line may be left in pieces, each of at least MinPiece bytes. A shorter
// line is kept or removed whole: a part of it could say something else.
const (
	LongLine = 400
	MinPiece = 32
)

func isMark(line string) bool {
	line = strings.TrimSuffix(line, "\r")
	return len(line) > 2 && line[0] == '[' && line[len(line)-1] == ']'
}

// isLessText reports whether text is original with lines taken out and marks put in. Everything but the marks must be
// lines of original, or pieces of long ones, in order and byte for byte. Where a piece does not begin or end with its
// line, a mark is right before or behind it. Something is left of a text that is not empty. A line break at the end
// does not count.
//
// Each line is looked for from where the one before it was found and taken at the first match, which leaves the most
// for those that follow, so the time is linear whatever the two texts are.
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
	lines := newLines(original) // including the empty one behind a line break at its end
	line, text, more := strings.Cut(text, "\n")
	marked := false
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

// oneMark returns text with the first mark of each run of them.
func oneMark(text string) string {
	var out strings.Builder
	marked := false
	for line := range strings.SplitAfterSeq(text, "\n") {
		isIt := isMark(strings.TrimSuffix(line, "\n"))
		if !isIt || !marked {
			out.WriteString(line)
		}
		marked = isIt
	}
	return out.String()
}

type unread struct {
	text       string
	start, end int // the line that holds at, without its line break
	at         int // the first unread byte
}

func newLines(text string) *unread {
	u := &unread{text: text, end: -1}
	u.next()
	return u
}

// next reads the next line. Behind the last one, start is beyond the text.
func (u *unread) next() {
	u.start = u.end + 1
	u.at, u.end = u.start, len(u.text)
	if u.start < len(u.text) {
		if n := strings.IndexByte(u.text[u.start:], '\n'); n >= 0 {
			u.end = u.start + n
		}
	}
}

// find reads up to the end of the first match of a line, or of a piece of a long one. before and behind say that a mark
// stands there, so the piece may begin or end within its line.
func (u *unread) find(line string, before, behind bool) bool {
	for ; u.start <= len(u.text); u.next() {
		rest := u.text[u.at:u.end]
		if u.at == u.start && rest == line {
			u.next()
			return true
		}
		if u.end-u.start < LongLine || len(line) < MinPiece {
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
