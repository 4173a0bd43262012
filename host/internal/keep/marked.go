package keep

import (
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Tag is the rule of a message in which a person marked something.
const Tag = "<keep>"

const endTag = "</keep>"

// quoted are elements in which agents put into a person's message what the person did not write.
var quoted = []string{"system-reminder", "bash-stdout", "bash-stderr", "local-command-stdout", "local-command-stderr",
	"file_content", "environment_context"}

// tagged says whether a person marked something in a message: whether <keep> and </keep> stand around something, and
// whether the last <keep> has no end. Neither counts in code, in a file that the message includes with @, or in what an
// agent quotes. It takes time in proportion to the message.
func tagged(c content.Content) (marked, open bool) {
	var s scanner
	for _, b := range c.Blocks {
		t, ok := b.(content.Text)
		if !ok || !s.inside && !strings.Contains(t.Text, Tag) {
			continue
		}
		s.fence, s.element, s.file = "", "", false
		at, files := 0, strings.LastIndex(t.Text, endOfFile)
		for line := range strings.Lines(t.Text) {
			s.line(strings.TrimRight(line, "\r\n"), at < files)
			at += len(line)
		}
	}
	return s.marked, s.inside
}

// scanner reads a message line by line.
type scanner struct {
	marked, inside bool
	said           bool   // something stands behind the open <keep>
	words          bool   // something stands outside of quoted elements
	fence          string // that ends the code block; "" outside of one
	element        string // that ends the quoted element; "" outside of one
	file           bool   // in an included file
}

// line reads a line; more says that an included file ends further down.
func (s *scanner) line(line string, more bool) {
	bare := strings.TrimLeft(line, " ")
	switch {
	case s.file:
		s.file = line != endOfFile
		return
	case s.fence != "":
		// At least as long as the one that began the block, with nothing behind it.
		if strings.HasPrefix(bare, s.fence) && strings.Trim(bare, s.fence[:1]+" \t") == "" {
			s.fence = ""
		}
		s.said = true
		return
	case s.element == "":
		if s.fence = fenceOf(bare); s.fence != "" {
			s.words = true
			return
		}
		if _, included := check.Included(line); included && more {
			s.file = true
			return
		}
	}
	s.text(line)
}

// fenceOf returns the characters that begin a block of code; "" if the line does not.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, c)
		if n := len(line) - len(rest); n >= 3 && !(c == "`" && strings.Contains(rest, "`")) {
			return line[:n]
		}
	}
	return ""
}

// text reads a line outside of blocks of code.
func (s *scanner) text(line string) {
	last := lastRuns(line)
	for i := 0; i < len(line); {
		if s.element != "" {
			end := strings.Index(line[i:], s.element)
			if end < 0 {
				return
			}
			i, s.element = i+end+len(s.element), ""
			continue
		}
		next := strings.IndexAny(line[i:], "<`")
		if next < 0 {
			next = len(line) - i
		}
		if strings.TrimSpace(line[i:i+next]) != "" {
			s.said, s.words = true, true
		}
		i += next
		switch rest := line[i:]; {
		case rest == "":
		case rest[0] == '`':
			n := run(rest)
			i, s.said, s.words = i+n, true, true
			for code := last[n] >= i; code && i < len(line); { // it ends with a run of the same length
				i += max(strings.IndexByte(line[i:], '`'), 0)
				m := run(line[i:])
				i, code = i+m, m != n
			}
		case strings.HasPrefix(rest, Tag):
			i, s.inside, s.said, s.words = i+len(Tag), true, false, true
		case strings.HasPrefix(rest, endTag):
			s.marked = s.marked || s.inside && s.said
			i, s.inside = i+len(endTag), false
		default:
			s.element = elementOf(rest)
			i, s.said, s.words = i+1, true, s.words || s.element == ""
		}
	}
}

// run returns how many backticks a text begins with.
func run(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }

// lastRuns returns where the last run of backticks of each length begins.
func lastRuns(line string) map[int]int {
	last := map[int]int{}
	for i := 0; ; {
		next := strings.IndexByte(line[i:], '`')
		if next < 0 {
			return last
		}
		n := run(line[i+next:])
		last[n], i = i+next, i+next+n
	}
}

// elementOf returns the end tag of the quoted element that begins a text; "" if none does.
func elementOf(text string) string {
	for _, name := range quoted {
		if rest, ok := strings.CutPrefix(text[1:], name); ok && rest != "" && (rest[0] == '>' || rest[0] == ' ') {
			return "</" + name + ">"
		}
	}
	return ""
}

const endOfFile = "--- End of content ---"

// included returns the paths of the files that a message includes with @.
func included(c content.Content) (paths []string) {
	for _, b := range c.Blocks {
		t, ok := b.(content.Text)
		if !ok || !strings.Contains(t.Text, endOfFile) {
			continue
		}
		for line := range strings.Lines(t.Text) {
			if p, ok := check.Included(strings.TrimRight(line, "\r\n")); ok && p != "" && len(paths) < maxFiles {
				paths = append(paths, p)
			}
		}
	}
	return paths
}
