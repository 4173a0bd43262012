package keep

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/internal/lazyregexp"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Tag is the rule of a message in which a person marked something.
const Tag = "<keep>"

// heard is what a message says about being kept.
type heard struct {
	spoke, marked bool
	lost          reason
	included      []string
}

// reason is why <keep> keeps nothing.
type reason int

const (
	nothing reason = iota // it does, or is not there
	unclosed
	inCode
	notAPersons
	reasons
)

// lostTags say the reasons, as the ends of sentences.
var lostTags = [reasons]string{
	unclosed: "has no </keep>, so it keeps nothing",
	inCode:   "is in code, so it keeps nothing",
	notAPersons: "is in text that may be someone else's, so it keeps nothing: write it in a message of its own, without " +
		"other tags around it",
}

// messages are the first messages of some, for people.
type messages struct {
	first []string
	more  int
}

func (n *messages) add(id string) {
	if len(n.first) < maxNamed {
		n.first = append(n.first, id)
	} else {
		n.more++
	}
}

// maxNamed is how many messages a warning names.
const maxNamed = 3

func (n *messages) String() string {
	said := strings.Join(n.first, ", ")
	if n.more > 0 {
		said += fmt.Sprintf(" and %d more", n.more)
	}
	return said
}

var tag, endTag = lazyregexp.New(`(?i)^<keep[ \t]*>`), lazyregexp.New(`(?i)^</keep[ \t]*>`)

// marks reports whether a text has a tag at all, by anyone.
var marks = lazyregexp.New(`(?i)<keep[ \t]*>`)

// hear finds what a person marked in a message: whether <keep> and </keep> stand around something that the person wrote
// and that is no code. It takes time in proportion to the message.
func hear(c content.Content) heard {
	s := listen(c)
	h := heard{spoke: s.spoke, included: s.included}
	said := s.person.String()
	var scan scanner
	if marks().MatchString(said) {
		scan.read(said)
	}
	switch h.marked = scan.marked; {
	case h.marked:
	case scan.inside:
		h.lost = unclosed
	case scan.coded:
		h.lost = inCode
	case !marks().MatchString(said):
		for _, b := range c.Blocks {
			if t, ok := b.(content.Text); ok && marks().MatchString(t.Text) {
				h.lost = notAPersons
			}
		}
	}
	return h
}

// scanner reads what a person said line by line.
type scanner struct {
	marked, inside bool
	said           bool // something stands behind the open <keep>
	coded          bool // a tag stands in code
}

func (s *scanner) read(text string) {
	lines := strings.Split(text, "\n")
	// longest has the longest line that could end a block of code that begins before it, by the character of its fence.
	longest := make([][2]int, len(lines)+1)
	for i := len(lines) - 1; i >= 0; i-- {
		longest[i] = longest[i+1]
		if c, n, info := fenceOf(lines[i]); n > 0 && !info {
			longest[i][c] = max(longest[i][c], n)
		}
	}
	in, length := 0, 0 // the fence of the block of code; its length is 0 outside of one
	for i, line := range lines {
		c, n, info := fenceOf(line)
		switch {
		case length > 0 && c == in && n >= length && !info:
			length = 0
		case length > 0:
			s.said, s.coded = true, s.coded || marks().MatchString(line)
		case n > 0 && longest[i+1][c] >= n: // one without an end is none
			in, length = c, n
		default:
			s.line(strings.TrimRight(line, "\r"))
		}
	}
}

// fenceOf returns which fence a line is, its length, and whether something stands behind it. Its length is 0 if it is
// none, or is indented further than one can be.
func fenceOf(line string) (kind, length int, info bool) {
	bare := strings.TrimLeft(line, " ")
	if len(line)-len(bare) > 3 {
		return 0, 0, false
	}
	for kind, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(bare, c)
		if n := len(bare) - len(rest); n >= 3 && !(c == "`" && strings.Contains(rest, "`")) {
			return kind, n, strings.TrimSpace(rest) != ""
		}
	}
	return 0, 0, false
}

// line reads a line outside of blocks of code.
func (s *scanner) line(line string) {
	last := lastRuns(line)
	for i := 0; i < len(line); {
		next := strings.IndexAny(line[i:], "<`")
		if next < 0 {
			next = len(line) - i
		}
		s.said = s.said || strings.TrimSpace(line[i:i+next]) != ""
		i += next
		rest := line[i:]
		switch {
		case rest == "":
		case rest[0] == '`':
			begin, n := i, run(rest)
			i, s.said = i+n, true
			for code := last[n] >= i; code && i < len(line); { // it ends with a run of the same length
				i += max(strings.IndexByte(line[i:], '`'), 0)
				m := run(line[i:])
				i, code = i+m, m != n
			}
			s.coded = s.coded || marks().MatchString(line[begin:i])
		default:
			open, end := len(tag().FindString(rest)), len(endTag().FindString(rest))
			switch {
			case open > 0:
				i, s.inside, s.said = i+open, true, false
			case end > 0:
				s.marked = s.marked || s.inside && s.said
				i, s.inside = i+end, false
			default:
				i, s.said = i+1, true
			}
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
