package transcript

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

const aiderStart = "# aider chat started at "

// aiderUser is in front of each line of a person, aiderConsole in front of what Aider itself said.
const (
	aiderUser    = "####"
	aiderConsole = "> "
)

// aider reads a history of Aider, which is Markdown:
//
//	# aider chat started at 2026-01-02 03:04:05
//	> Aider v0.86
//	#### fix it
//	I fix it.
//	> Tokens: 2.1k sent, 1k received.
//
// Lines of the person and of Aider are marked, all others are the model's. Each chat in a file begins with an empty
// context. There are no calls, and the files that Aider sent are not recorded: a replay cannot tell what pruning would
// save. The reader was tested with a sample made by hand.
type aider struct {
	b     *builder
	human bool // whose lines are collected
	line  int  // where they began
	text  strings.Builder
}

func readAider(s *source, o Options) (*Transcript, error) {
	a := aider{b: newBuilder()}
	for {
		line, _, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		// Files that were written on Windows end their lines with CR LF.
		a.read(s.line, string(bytes.ToValidUTF8(bytes.TrimSuffix(line, []byte("\r")), []byte("\ufffd"))))
	}
	a.flush()
	a.b.t.Format = Aider
	// It sends files and a map of the repository with each request, and keeps neither.
	a.b.t.Unanswered = true
	a.b.note(0, -1, "Aider does not record the files that it sent, so savings cannot be told")
	if len(a.b.t.Entries) == 0 {
		return nil, fail(ErrEmpty, "the history has no words of a person or a model")
	}
	return a.b.finish(o)
}

func (a *aider) read(number int, line string) {
	said, isHuman := strings.CutPrefix(line, aiderUser)
	switch {
	case strings.HasPrefix(line, aiderStart):
		a.flush()
		// The first chat begins where the file does.
		if len(a.b.t.Entries) > 0 {
			a.b.boundary(BoundaryChat, nil)
		}
		return
	case strings.HasPrefix(line, aiderConsole):
		a.flush()
		a.b.tally.routine(number, -1, "line of Aider itself, such as costs and files that were added, left out")
		return
	case isHuman:
		line = strings.TrimSuffix(strings.TrimPrefix(said, " "), "  ") // two blanks break a line in Markdown
	}
	// A change of speaker ends an entry. A blank line counts as the model's, and flush drops an entry of blanks.
	if isHuman != a.human {
		a.flush()
	}
	if a.text.Len() == 0 {
		a.human, a.line = isHuman, number
	}
	a.text.WriteString(line + "\n")
}

func (a *aider) flush() {
	text := strings.TrimSpace(a.text.String())
	a.text.Reset()
	if text == "" {
		return
	}
	c := content.Content{Speaker: content.AI, Blocks: one(content.Text{Text: text})}
	if a.human {
		c.Speaker = content.Human
	}
	a.b.add(a.line, c)
	if a.human && (text == "/clear" || text == "/reset") {
		a.b.boundary(BoundaryChat, nil)
	}
}
