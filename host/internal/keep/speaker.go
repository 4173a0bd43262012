package keep

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Who speaks in a message that an agent sends as a person's. Agents put files, outputs and reminders of their own into
// it, each in forms of its own, and the text in these forms may be anybody's. Forms that end with a mark reach to the
// last such mark, because what stands between may hold the mark too.

// speech is a message, taken apart by who speaks.
type speech struct {
	person   strings.Builder // what is known to be a person's; a stranger stands where others speak
	spoke    bool            // a person said something, or may have
	included []string        // the paths of included files
}

// stranger stands for what others say.
const stranger = "\ufffc"

// listen takes a message apart. It takes time in proportion to the message.
func listen(c content.Content) *speech {
	s := &speech{}
	var texts []string
	for _, b := range c.Blocks {
		if t, ok := b.(content.Text); ok {
			texts = append(texts, t.Text)
		} else {
			s.spoke = true // an attachment
		}
	}
	for _, t := range texts {
		if printed(t) {
			s.person.WriteString(stranger)
			return s
		}
	}
	from, to := inclusion(texts)
	for i, t := range texts {
		begin, end := len(t), len(t) // of what is included
		if i >= from.block && i <= to.block {
			if begin = 0; i == from.block {
				begin = from.offset
			}
			if i == to.block {
				end = to.offset
			}
		}
		if i > 0 && end > 0 && names(texts[i-1]) || prompted(t) { // the file that the block before names, or an output
			s.strange()
			s.spoke = s.spoke || strings.HasPrefix(t, issue)
		} else if next := s.block(t, begin); begin < end {
			s.strange()
			s.files(t[begin:end])
			rest := max(next, end) // an element may hold what looks like an included file
			s.block(t[rest:], len(t)-rest)
		}
		s.person.WriteByte('\n')
	}
	return s
}

// printed reports whether a message is what a tool printed, by its first block: Cline sends it in one block or more.
func printed(t string) bool {
	first, _, _ := strings.Cut(t, "\n")
	return strings.HasPrefix(first, "[") && strings.HasSuffix(strings.TrimRight(first, "\r "), "] Result:")
}

// prompted reports whether a block is what a shell printed, with its prompt behind: SWE-agent.
func prompted(t string) bool { return strings.HasSuffix(strings.TrimRight(t, " \n"), "bash-$") }

// names reports whether a block says which file is in the next one: opencode.
func names(t string) bool {
	t = strings.TrimLeft(t, " \n")
	return strings.HasPrefix(t, called) && strings.Contains(t[:min(len(t), 100)], " tool with the following input") ||
		strings.HasPrefix(t, "Reading MCP resource: ")
}

// place is an offset in a text block; its block is -1 if there is none.
type place struct{ block, offset int }

// inclusion returns where a message has files that it includes with @: from the first line that begins one to the last
// that ends one, in any block. Without an end a heading is a heading.
func inclusion(texts []string) (from, to place) {
	begin, file, end := place{-1, -1}, place{-1, -1}, place{-1, -1}
	for i, t := range texts {
		at := 0
		for line := range strings.Lines(t) {
			bare := strings.TrimRight(line, "\r\n")
			p, isFile := check.Included(bare)
			switch {
			case strings.HasPrefix(bare, endOfFiles):
				end = place{i, at + len(line)}
			case begin.block < 0 && bare == beginOfFiles:
				begin = place{i, at}
			case file.block < 0 && isFile && (strings.ContainsAny(p, "./\\") || strings.HasPrefix(bare, "Content")):
				file = place{i, at}
			}
			at += len(line)
		}
	}
	none := place{-1, -1}
	switch {
	case begin != none && end.before(begin):
		return begin, place{len(texts) - 1, len(texts[len(texts)-1])}
	case file != none && !end.before(file) && (begin == none || file.before(begin)):
		return file, end
	case begin != none:
		return begin, end
	}
	return none, none
}

func (p place) before(q place) bool {
	return p.block < q.block || p.block == q.block && p.offset < q.offset
}

// files takes in the paths of included files.
func (s *speech) files(t string) {
	lines := 0
	last := ""
	take := func() {
		if last != "" && lines > 0 && len(s.included) < maxFiles {
			s.included = append(s.included, last)
		}
	}
	for line := range strings.Lines(t) {
		bare := strings.TrimRight(line, "\r\n")
		p, ok := check.Included(bare)
		switch {
		case strings.HasPrefix(bare, endOfFiles) || bare == beginOfFiles:
		case ok:
			take()
			last, lines = p, 0
		case strings.HasPrefix(bare, "[WARNING: This file was truncated"):
			last = ""
		case strings.TrimSpace(bare) != "":
			lines++
		}
	}
	take()
}

// says takes in words of a person.
func (s *speech) says(t string) {
	s.spoke = s.spoke || strings.TrimSpace(t) != ""
	s.person.WriteString(t)
}

func (s *speech) strange() { s.person.WriteString(stranger) }

// block takes in a block of text up to an offset, and returns where the element ends that reaches beyond it; 0 if none
// does.
func (s *speech) block(t string, upTo int) (end int) {
	begin := 0
	bare := strings.TrimLeft(t, " \n")
	if rest, ok := strings.CutPrefix(bare, reminder+"\n"+typed); ok {
		if end := strings.Index(rest, endReminder); end >= 0 {
			s.says(rest[:end])
			begin = len(t) - len(rest) + end + len(endReminder)
		}
	}
	if strings.HasPrefix(bare, ideContext) || strings.HasPrefix(bare, ideFiles) {
		s.strange()
		begin = len(t)
		if at := strings.LastIndex(t, ideRequest); at >= 0 {
			begin = at + len(ideRequest)
		}
	}
	if begin > upTo {
		return begin
	}
	return s.elements(t, begin, upTo)
}

// elements takes in a text with elements of others, from one offset to another, as block does.
func (s *speech) elements(t string, from, upTo int) (over int) {
	ends := closings(t)
	said, bare := from, true // from where on a person speaks; nothing is before it on the line
	begins := from + len(t[from:]) - len(strings.TrimLeft(t[from:], " \t\r\n"))
	for i := from; i < upTo; {
		if bare && isRest(t[i:]) {
			s.says(t[said:i])
			s.strange()
			s.spoke = s.spoke || strings.HasPrefix(t[i:], issue)
			return len(t)
		}
		switch c := t[i]; {
		case c == '\n':
			i, bare = i+1, true
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c != '<':
			bare = false
			next := strings.IndexAny(t[i:], "\n<")
			if next < 0 {
				next = len(t) - i
			}
			i += next
		default:
			name := nameOf(t[i+1:])
			end := ends[name]
			closed := end > i
			known := slices.Contains(alone, name) || slices.Contains(strangers, name)
			switch {
			case name == "" || slices.Contains(people, name) || name == "keep":
				i, bare = i+1, slices.Contains(people, name)
				if at := strings.IndexByte(t[i:min(len(t), i+longestTag)], '>'); bare && at >= 0 {
					i += at + 1
				}
			case known && i == begins && (slices.Contains(alone, name) || !closed):
				s.strange()
				return len(t)
			case closed && (known || bare):
				s.says(t[said:i])
				s.strange()
				s.spoke = s.spoke || !known
				i, said, bare = end, end, true
			default:
				i, bare = i+1, false
			}
		}
	}
	if said > upTo {
		return said
	}
	s.says(t[said:upTo])
	return 0
}

// isRest reports whether a line begins behind which nothing is a person's.
func isRest(t string) bool {
	return slices.ContainsFunc(rests, func(r string) bool { return strings.HasPrefix(t, r) }) ||
		strings.HasPrefix(t, called) && names(t[:min(len(t), 200)]) || strings.HasPrefix(t, resulting)
}

// nameOf returns the name of the element that begins a text, in lower case; "" if none does.
func nameOf(t string) string {
	n := 0
	for n < len(t) && n <= longestElement && isName(t[n]) {
		n++
	}
	if n == 0 || n > longestElement || n == len(t) || !strings.ContainsRune("> \t\r\n/", rune(t[n])) {
		return ""
	}
	return strings.ToLower(t[:n])
}

// In bytes, of the name of an element, and of a tag in which a person speaks.
const longestElement, longestTag = 50, 200

func isName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// closings returns where the last end tag of each element ends.
func closings(t string) map[string]int {
	var ends map[string]int
	for i := 0; ; {
		next := strings.Index(t[i:], "</")
		if next < 0 {
			return ends
		}
		i += next + 2
		if name := nameOf(t[i:]); name != "" {
			if ends == nil {
				ends = map[string]int{}
			}
			end := i + len(name)
			if at := strings.IndexByte(t[end:min(len(t), end+10)], '>'); at >= 0 {
				ends[name] = end + at + 1
			}
		}
	}
}
